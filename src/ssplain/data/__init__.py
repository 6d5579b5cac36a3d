"""Data sets and image files: what comes with the package, MNIST, Fashion-MNIST, ROP, pictures.

Everything comes out as tensors with a background of exactly zero; no value is normalised here.
"""

from ssplain.data.bundled import DATASETS, DataSet, bundled
from ssplain.data.idx import CLASSES, load
from ssplain.data.images import read_image, resize
from ssplain.data.readers import SUFFIXES, pages_of, read_any, size_of
from ssplain.data.rop_folder import ROPFolder, read_rop
from ssplain.data.rop_truth import Truth, bundled_truth
from ssplain.data.simulated import SimulatedROP

__all__ = [
    "CLASSES",
    "DATASETS",
    "SUFFIXES",
    "DataSet",
    "ROPFolder",
    "SimulatedROP",
    "Truth",
    "bundled",
    "bundled_truth",
    "load",
    "pages_of",
    "read_any",
    "read_image",
    "read_rop",
    "resize",
    "size_of",
]
