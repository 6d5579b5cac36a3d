"""What is asked of an explainer: images, targets, the pixels that count; one call for all."""

from ssplain.question.protocol import Attributor, Explainer, Question, over_channels

__all__ = ["Attributor", "Explainer", "Question", "over_channels"]
