"""Our own claims, judged by the same rules as the paper's."""

from ssplain.claims.claim import SIMULATED, Claim
from ssplain.claims.verdicts import ahead, both, level, no_worse
from ssplain.study.declare import (
    BRANCHES,
    COMPLETE,
    NAMES,
    NINE,
    OURS,
    RANKING,
    RIVALS,
    SLOW,
    STABLE,
    budgeted,
)
from ssplain.study.kinds import Variant
from ssplain.study.stability import group

OTHERS = (OURS, *NINE, *RIVALS)
QUICKER = (OURS, *NINE, COMPLETE)  # than those that have a study of their own on eyes
WHERE = "this package"
WHY = (
    "The ranking objective is what insertion and deletion measure, at another share of the support "
    "in each iteration. Settings were searched for on images that are reported nowhere."
)
ASKED = {
    "insertion": "its first pixels, inserted, give more accuracy",
    "deletion": "its first pixels, taken away, harm accuracy more",
    "connected": "its first pixels form larger connected parts",
    "average-precision-above-chance": "its map finds planted disease better",
}


ALL = "SSplain-0, the paper's nine and four stronger rivals"
EYES = ("insertion", "deletion", "connected", "average-precision-above-chance")


def _leads(
    dataset: str, *measures: str, others: tuple[Variant, ...], than: str, part: str = ""
) -> tuple[Claim, ...]:
    before = SIMULATED if dataset == "rop" else ""
    return tuple(
        Claim(
            f"{NAMES[dataset]}, SSplain-ranking: {ASKED[measure]} than those of {than}.",
            WHERE,
            f"ranking-{dataset}{part}",
            ahead(RANKING, others, measure, "support"),
            before + WHY,
        )
        for measure in measures
    )


def _passes(measure: str) -> Claim:
    (ours, *_), (_, *others) = budgeted(40), budgeted(80)
    return Claim(
        f"MNIST, SSplain-ranking with 40 passes of the model: {ASKED[measure]} than the other "
        "iterative explainers' with 80.",
        WHERE,
        "passes",
        ahead(ours, others, measure, "support"),
        WHY,
    )


RANKINGS: tuple[Claim, ...] = (
    *_leads("mnist", "insertion", "deletion", others=OTHERS, than=ALL),
    *_leads("fmnist", "insertion", "deletion", others=OTHERS, than=ALL),
    *_leads("rop", *EYES, others=QUICKER, than="SSplain-0, the paper's nine and complete IG"),
    *_leads("rop", *EYES, others=SLOW, than="iGOS++, greedy regions and RISE", part="-slow"),
    Claim(
        "ROP, SSplain-ranking by branches: it finds planted disease better than maps of pixels by "
        "the quicker explainers do.",
        WHERE,
        "ranking-rop",
        ahead(BRANCHES, (RANKING, *QUICKER), "average-precision-above-chance", "support"),
        f"{SIMULATED}Disease was planted branch by branch, so whole branches are right or wrong.",
    ),
    _passes("insertion"),
    _passes("deletion"),
)

TURNING = (
    "The l0 projection chooses among pixels that are nearly equal, total variation's gradient "
    "jumps where neighbours are equal, and Adam follows the sign of the smallest gradient."
)


def _stability(dataset: str) -> tuple[Claim, ...]:
    name, where = NAMES[dataset], group(dataset)
    steady = both(
        level(STABLE, "overlap-1e-6", where, least=0.95),
        level(STABLE, "ranks-1e-3", where, least=0.95),
    )
    turns = level(OURS, "overlap-1e-6", where, most=0.95)
    as_good = no_worse(STABLE, OURS, ("insertion",), 0.005, f"insertion on {dataset}")
    texts = {
        "the paper's SSplain-0 turns on rounding: noise of 1e-6 changes its top quarter.": turns,
        "with stable=True, SSplain-0 keeps its map under noise of 1e-6 and of 1e-3.": steady,
        "stable maps insert as well as the paper's, within 0.005.": as_good,
    }
    return tuple(
        Claim(f"{name}: {text}", WHERE, "stability", test, TURNING) for text, test in texts.items()
    )


STEADINESS: tuple[Claim, ...] = (*_stability("mnist"), *_stability("fmnist"))
