"""What is explained: LeNet-5, GoogLeNet, loading and cards; the door to any model is in `ask`."""

from ssplain.ask.adapter import Classifier, OnBackground
from ssplain.ask.door import Door, ModelOptions, OpenModel
from ssplain.ask.heads import AtLeast, Head, Normalised, OneLabel, denormalise
from ssplain.ask.holding import frozen
from ssplain.models.card import ModelCard, card, save
from ssplain.models.googlenet import GoogLeNet
from ssplain.models.lenet import LeNet5
from ssplain.models.load import load
from ssplain.models.onnx import OnnxModel, QueryOnly
from ssplain.models.quick import quick
from ssplain.models.registered import MODELS, RegisteredModel
from ssplain.models.severity import severity, severity_of

__all__ = [
    "MODELS",
    "AtLeast",
    "Classifier",
    "Door",
    "GoogLeNet",
    "Head",
    "LeNet5",
    "ModelCard",
    "ModelOptions",
    "Normalised",
    "OnBackground",
    "OneLabel",
    "OnnxModel",
    "OpenModel",
    "QueryOnly",
    "RegisteredModel",
    "card",
    "denormalise",
    "frozen",
    "load",
    "quick",
    "save",
    "severity",
    "severity_of",
]
