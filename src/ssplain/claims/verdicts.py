"""What must be true of the numbers for a claim to hold: small tests over the results of a study.

Every test states its rule in words and gives one of three verdicts. Differences are judged by the
95 % interval of a paired, class-stratified bootstrap over the images: it excludes 0 on the claimed
side, on the other side, or neither.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ssplain.metrics import MEASURES, Interval
from ssplain.report.record import Verdict
from ssplain.study.kinds import Variant
from ssplain.study.results import Results

HOLDS: Verdict = "holds"
FAILS: Verdict = "does not hold"
OPEN: Verdict = "undecided"
MISSING: Verdict = "not measured"


class Judged(NamedTuple):
    """Numbers as a sentence, and the verdict."""

    measured: str
    verdict: Verdict


@dataclass(frozen=True)
class Test:
    """A rule in words and as a function of the results, and the explainers that it is about."""

    rule: str
    judge: Callable[[Results], Judged]
    variants: tuple[Variant, ...] = ()

    __test__ = False  # pytest collects classes of this name


def together(verdicts: Sequence[Verdict]) -> Verdict:
    """Return the verdict on a claim of several parts: one failed part fails it.

    >>> together(["holds", "undecided"]), together(["holds", "does not hold", "undecided"])
    ('undecided', 'does not hold')
    """
    if FAILS in verdicts:
        return FAILS
    return OPEN if OPEN in verdicts else HOLDS


def side(gain: Interval, margin: float = 0.0) -> Verdict:
    """Judge a gain that is claimed to be above a margin.

    >>> side(Interval(0.2, 0.1, 0.3)), side(Interval(0.2, -0.1, 0.3)), side(Interval(-1, -2, -0.5))
    ('holds', 'undecided', 'does not hold')
    """
    if gain.low > margin:
        return HOLDS
    return FAILS if gain.high < margin else OPEN


def gains(
    results: Results, group: str, ours: Variant, others: Sequence[Variant], measure: str
) -> dict[str, Interval]:
    """Return by how much `ours` is better than each other, in the measure's good direction."""
    own = results.of(ours, measure, group)
    return {o.title: own.gain(results.of(o, measure, group), measure) for o in others}


def ahead(ours: Variant, others: Sequence[Variant], measure: str, group: str = "all") -> Test:
    """Test that one explainer is better than each of several others."""
    record = MEASURES.find(measure)
    words, way = record.words, "higher" if record.sign > 0 else "lower"

    def judge(results: Results) -> Judged:
        better = gains(results, group, ours, others, measure)
        verdict = together([side(gain) for gain in better.values()])
        own = results.of(ours, measure, group).summary(measure)
        text = f"{words}: {ours.title} {own}; {standing(better)}."
        if group == "all" and measure in ("insertion", "deletion") and "support" in results.found:
            within = gains(results, "support", ours, others, measure)
            text += f" Ranked within the support alone: {standing(within)}."
        return Judged(text, verdict)

    against = others[0].title if len(others) == 1 else f"each of the {len(others)} others"
    return Test(
        f"The {words} of {ours.title} is {way} than that of {against}: the 95 % interval of the "
        "paired difference excludes 0 on that side. It fails if one interval excludes 0 on the "
        "other side.",
        judge,
        (ours, *others),
    )


def standing(better: dict[str, Interval]) -> str:
    """Say against how many it is ahead, and name those where it is not.

    >>> standing({"A": Interval(1, 0.5, 2), "B": Interval(-0.2, -0.3, -0.1)})
    'ahead of 1 of 2; behind B by 0.200 [0.100, 0.300]'
    """
    won = [gain for gain in better.values() if side(gain) == HOLDS]
    parts = [f"ahead of {len(won)} of {len(better)}"]
    if len(won) == len(better):
        nearest = min(better, key=lambda other: better[other].value)
        parts.append(f"nearest is {nearest}, by {better[nearest]}")
    lost = [
        f"{other} by {Interval(-gain.value, -gain.high, -gain.low)}"
        for other, gain in better.items()
        if side(gain) == FAILS
    ]
    close = [f"{other} ({gain})" for other, gain in better.items() if side(gain) == OPEN]
    if lost:
        parts.append(f"behind {', '.join(lost)}")
    if close:
        parts.append(f"too close to call with {', '.join(close)}")
    return "; ".join(parts)


def no_worse(
    ours: Variant,
    other: Variant,
    measures: Sequence[str],
    margin: float = 0.01,
    group: str = "all",
) -> Test:
    """Test that one explainer is as good as another, or better, in several measures."""

    def judge(results: Results) -> Judged:
        better = {m: gains(results, group, ours, [other], m)[other.title] for m in measures}
        text = "; ".join(
            f"{MEASURES.find(m).words}: better by {gain}" for m, gain in better.items()
        )
        verdicts = [side(gain, -margin) for gain in better.values()]
        return Judged(f"{ours.title} against {other.title}: {text}.", together(verdicts))

    return Test(
        f"In {', '.join(measures)}, {ours.title} is not worse than {other.title} by more than "
        f"{margin:g}: the 95 % interval of the paired difference lies above -{margin:g} in all. It "
        "fails if one lies below.",
        judge,
        (ours, other),
    )


def level(
    variant: Variant,
    measure: str,
    group: str,
    *,
    least: float | None = None,
    most: float | None = None,
    words: str = "",
) -> Test:
    """Test that an explainer's mean is at least, or at most, something."""
    name = words or MEASURES.find(measure).words
    limit, sign = (least, 1) if least is not None else (most, -1)
    if limit is None:
        raise ValueError("level needs least= or most=")
    edge, way = float(limit), "above" if sign > 0 else "below"

    def judge(results: Results) -> Judged:
        own = results.of(variant, measure, group).summary(measure)
        ends = sorted((sign * (own.low - edge), sign * (own.high - edge)))
        gain = Interval(sign * (own.value - edge), *ends)
        return Judged(f"{name} of {variant.title}: {own}.", side(gain))

    return Test(
        f"The {name} of {variant.title} is {way} {edge:g} with its whole 95 % interval. It fails "
        "if the interval lies on the other side.",
        judge,
        (variant,),
    )


def every_stage(measure: str, most: float) -> Test:
    """Test that the maps of every stage of the sanity check differ from the trained network's."""
    words = MEASURES.find(measure).words

    def judge(results: Results) -> Judged:
        stages = [Variant(stage, "ssplain-0") for stage in results.found["stages"]][1:]
        tests = {stage.title: level(stage, measure, "stages", most=most) for stage in stages}
        found = {stage: test.judge(results) for stage, test in tests.items()}
        first, last = (
            results.of(s, measure, "stages").summary(measure) for s in (stages[0], stages[-1])
        )
        high = [stage for stage, one in found.items() if one.verdict == FAILS]
        text = f"{words} with the trained map: {first} after {stages[0].title}, {last} at the end"
        text += f"; above {most:g} after {', '.join(high)}." if high else "."
        return Judged(text, together([one.verdict for one in found.values()]))

    return Test(
        f"After every randomised block the mean {words} with the trained network's map, on the "
        f"support, is below {most:g} with its whole 95 % interval. It fails if one lies above.",
        judge,
    )


def both(*tests: Test) -> Test:
    """Test a claim of several parts."""

    def judge(results: Results) -> Judged:
        found = [test.judge(results) for test in tests]
        return Judged(" ".join(one.measured for one in found), together([v for _, v in found]))

    variants = tuple(dict.fromkeys(variant for test in tests for variant in test.variants))
    return Test(" And: ".join(test.rule for test in tests), judge, variants)
