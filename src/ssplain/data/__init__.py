"""Data sets and image files: what comes with the package, MNIST and Fashion-MNIST, and pictures.

Everything comes out as tensors with a background of exactly zero; no value is normalised here.
"""

from ssplain.data.bundled import bundled
from ssplain.data.idx import CLASSES, load
from ssplain.data.images import read_image, resize

__all__ = ["CLASSES", "bundled", "load", "read_image", "resize"]
