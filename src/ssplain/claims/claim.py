"""What a claim is, and what readers should know about the measures that decide it."""

from dataclasses import dataclass

from ssplain.claims.verdicts import Test


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper that numbers can decide.

    Attributes:
        text: in our words.
        where: in the paper.
        study: whose results decide it.
        test: how.
        why: what a reader should know about the verdict.
    """

    text: str
    where: str
    study: str
    test: Test
    why: str


DELETION = (
    "SSplain's loss asks which pixels are enough to keep the class, not which ones the class "
    "cannot do without; nothing in it rewards taking them away. Maps with a sign, such as "
    "Integrated Gradients and DeepSHAP, rank evidence against the class last: it stays in the "
    "image and pushes the class down while the rest goes."
)
INSERTION = (
    "Insertion asks whether the first pixels are enough for the class, which is what SSplain "
    "optimises. On the axis of all pixels, maps that rank background early lose by that alone. "
    "Maps with a sign gain: evidence against the class comes in after the background, so that even "
    "images that the model gets wrong are right on most of the axis, while SSplain has its whole "
    "support in early. The numbers within the support are free of both."
)
KAPPA = (
    "SSplain ranks everything off the support last by construction, so it inserts no background "
    "before the whole image is in. The image itself as a map has the highest possible kappa_s."
)
CONNECTED = (
    "Counted with the foreground rule (neighbours that are both there). The rule printed in the "
    "appendix links neighbours that differ, and scores scattered pixels higher than a solid bar."
)
SETTLED = (
    "Measured for each image: the share of all pixels after which it is right or wrong as the "
    "whole image is, for good. A map that ranks no background is done when its support is in."
)
BACKGROUND = (
    "The first 5 % of all pixels (at most as many as the support has) are looked at, as in the "
    "paper's pictures. A map without any idea would have the share of the background in the image."
)
DILATION = (
    "cos(D_s, D) is 1 as soon as all branches are covered alike, so a random order of vessel "
    "pixels is near the best possible: it measures even coverage, not a preference for wide ones."
)
CURVATURE = (
    "cos(X_s, C) rises with the number of vessel pixels whatever they are; over the share of all "
    "pixels, maps that insert background are behind for that reason alone."
)
SIMULATED = "The images are simulated and the network is ours, trained on such images. "
TARGETS = "Maps explain the predicted class; accuracy is against the true label. "
