"""Work: what is done with the images of a job, in this process, another one, or on another machine.

Nothing is imported here: what writes results, and a Dask scheduler, need no PyTorch for it.
"""
