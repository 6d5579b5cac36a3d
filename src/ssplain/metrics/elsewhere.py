"""The records of measures that are not taken from finished maps: of explainers, and of time."""

from ssplain.metrics.measure import Measure


class _Elsewhere(Measure):
    kind, needs = "trust", frozenset({"elsewhere"})


class Seconds(_Elsewhere):
    """Processor time."""

    name, words, better = "seconds", "seconds per image", "low"
    unit, reference = "s", "the study `times`"


class MaxSensitivity(_Elsewhere):
    """How far a map moves under noise."""

    name, words, better = "max-sensitivity", "largest relative move under small noise", "low"
    reference = "`max_sensitivity`; Yeh et al., NeurIPS 2019"


class SeedAgreement(_Elsewhere):
    """How alike the maps of several seeds are."""

    name, words, better = "seed-agreement", "rank correlation between seeds", "high"
    reference = "`seed_agreement`"


class Steadiness(_Elsewhere):
    """How much of a map stays under noise."""

    better, reference = "high", "`ssplain.explain.measure_stability`"

    def __init__(self, name: str, words: str) -> None:
        self.name = name
        self.words = words  # type: ignore[misc]  # of the instance: these differ in nothing else


class Likeness(_Elsewhere):
    """How alike the maps of a trained and of a randomised network are."""

    better, reference = "low", "`sanity_check`; Adebayo et al., NeurIPS 2018"

    def __init__(self, name: str, words: str) -> None:
        self.name = name
        self.words = words  # type: ignore[misc]  # of the instance: these differ in nothing else


ELSEWHERE: tuple[Measure, ...] = (
    Seconds(),
    MaxSensitivity(),
    SeedAgreement(),
    *(
        Steadiness(f"{name}-{noise}", f"{words} under noise of {noise}")
        for name, words in (
            ("overlap", "share of the top quarter that stays"),
            ("ranks", "rank correlation"),
        )
        for noise in ("1e-6", "1e-3")
    ),
    Likeness("spearman", "rank correlation"),
    Likeness("spearman-absolute", "rank correlation of the magnitudes"),
    Likeness("ssim", "structural similarity"),
    Likeness("hog", "correlation of gradient histograms"),
    Likeness("spearman-start-fixed", "rank correlation, start held fixed"),
    Likeness("spearman-with-start", "rank correlation with the start"),
)
