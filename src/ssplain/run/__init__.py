"""Work that is done once: maps and measures on disk, under what they were made from."""
