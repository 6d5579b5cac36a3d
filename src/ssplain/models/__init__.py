"""What is explained: LeNet-5, bundled weights and their cards, loading, and training."""

from ssplain.models.card import ModelCard, card, save
from ssplain.models.lenet import LeNet5
from ssplain.models.load import load

__all__ = ["LeNet5", "ModelCard", "card", "load", "save"]
