"""What commands share: options, images and models from the command line, progress, tables, jobs."""
