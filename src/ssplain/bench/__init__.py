"""Measured comparisons: each file has `cases()`, which yields one JSON-ready dict per case.

Every case is a ratio of two things timed in turn within one run, so that it means the same on a
fast machine, a slow one and a busy one.
"""
