"""Jobs, and work that is done once: results on disk under what they were made from.

Nothing is imported here: a Dask scheduler looks into this room, and needs no PyTorch for it.
"""
