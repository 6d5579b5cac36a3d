"""Jobs: many images, done once each, whatever is stopped, killed or broken in between.

Nothing is imported here: a Dask scheduler looks into this room, and needs no PyTorch for it.
"""
