"""The paper's claims about SSplain's own parts and settings, its sanity and its speed."""

from ssplain.claims.claim import BACKGROUND, SIMULATED, Claim
from ssplain.claims.verdicts import Test, ahead, both, every_stage, level
from ssplain.study.declare import (
    BRIGHT,
    CONVERGED,
    EXTREMAL,
    FREE,
    FULL,
    HALF,
    L1,
    OCCLUSION,
    ONES,
    OURS,
    PARTS,
    PERTURBATION,
    PRINTED,
    SMALL,
)
from ssplain.study.kinds import Variant
from ssplain.study.times import group

SANITY = (
    Claim(
        "The scores change when the network's weights are randomised.",
        "4.6, Figure 4",
        "sanity",
        every_stage("spearman", 0.9),
        SIMULATED + "A mask that starts at the image's intensity resembles it whatever the network "
        "says, so the rank correlation has a high floor.",
    ),
    Claim(
        "What changes is about the network, not about where the mask starts.",
        "4.6, Figure 4",
        "sanity",
        every_stage("spearman-start-fixed", 0.9),
        SIMULATED + "The partial rank correlation holds the start fixed.",
    ),
)
ABLATION = tuple(
    Claim(
        f"Ablation: sparsity and smoothness together give {what} than either alone or neither.",
        "B, Figure 6",
        "ablation",
        ahead(FULL, PARTS, measure),
        SIMULATED + "With lambda at 1e-5 the smoothness term is small beside the loss, and 50 "
        "steps of 0.01 move the mask by at most 0.5: the variants start alike and stay near.",
    )
    for measure, what in (
        ("deletion", "a lower deletion accuracy"),
        ("insertion", "a higher insertion accuracy"),
        ("connected", "larger connected parts"),
    )
)
BUDGETS = tuple(
    Claim(
        f"Budgets: below 50 % of the support, {what}.",
        "C, Figure 7",
        "budgets",
        ahead(HALF, tuple(SMALL), measure),
        SIMULATED + "The budget enters through a penalty of rho = 0.01 only; scores are ranked "
        "before the projection.",
    )
    for measure, what in (
        ("deletion", "deletion accuracy rises"),
        ("insertion", "insertion accuracy falls"),
        ("connected", "connected parts shrink"),
        ("kappa", "kappa_s falls"),
    )
)
NORMS = (
    Claim(
        "The maps under the l0 and the l1 budget do not differ noticeably.",
        "G.1, Figure 10",
        "norms",
        level(L1, "agreement", "maps", least=0.9, words="rank correlation with SSplain-0"),
        SIMULATED + "Noticeable is read as a rank correlation on the vessels below 0.9.",
    ),
)
EXTREMAL_CLAIMS = (
    Claim(
        "Even without the support constraint SSplain gives no importance to the background.",
        "G.2, Figure 11",
        "extremal",
        level(FREE, "background", "maps", most=0.05),
        SIMULATED + "Where the image is zero the loss does not depend on the mask; only total "
        "variation and the budget move it there. " + BACKGROUND,
    ),
    Claim(
        "Pixel-wise Extremal Perturbation gives importance to the background.",
        "G.2, Figure 11",
        "extremal",
        ahead(FREE, (PRINTED,), "background", "maps"),
        SIMULATED + BACKGROUND,
    ),
    Claim(
        "Pixel-wise Extremal Perturbation gives much less sparse masks than SSplain.",
        "G.2, Figure 11",
        "extremal",
        ahead(FREE, (PRINTED,), "sparsity", "maps"),
        SIMULATED + "As printed, its area term is a mean over 50,176 pixels: each gets so small a "
        "gradient that 400 iterations do not reach the area that was asked for.",
    ),
    Claim(
        "The same holds when Extremal Perturbation is given an area term that converges (our "
        "check, not the paper's).",
        "G.2, Figure 11",
        "extremal",
        both(
            ahead(FREE, (CONVERGED,), "background", "maps"),
            ahead(FREE, (CONVERGED,), "sparsity", "maps"),
        ),
        SIMULATED + "Tells whether the claim is about the method or about its optimisation.",
    ),
)
START = (
    *(
        Claim(
            f"Starting from the intensity beats starting from ones in {what}.",
            "I.2, Figure 13",
            "start",
            both(*(ahead(BRIGHT, (ONES,), m, g) for m, g in tests)),
            SIMULATED + "The starts have 50 and 400 iterations, as in the paper.",
        )
        for what, tests in (
            ("deletion", (("deletion", "all"),)),
            ("insertion", (("insertion", "all"),)),
            ("connected parts and kappa_s", (("connected", "all"), ("kappa", "all"))),
            (
                "curvature and dilation similarity",
                tuple((m, g) for m in ("curvature", "dilation") for g in ("all", "kappa")),
            ),
        )
    ),
    Claim(
        "Starting from ones gives maps that are less sparse and less smooth.",
        "I.1, Figure 12",
        "start",
        both(
            ahead(BRIGHT, (ONES,), "sparsity", "maps"),
            ahead(BRIGHT, (ONES,), "shown-roughness", "maps"),
        ),
        SIMULATED + "Sparse is read as the Gini index over all pixels, smooth as a low total "
        "variation of the map scaled to [0, 1].",
    ),
)


def _times(dataset: str, ours: Variant, others: tuple[Variant, ...]) -> Test:
    return ahead(ours, others, "seconds", group(dataset))


_LIME, _SHAP, _SALIENCY = map(Variant.of, ("lime", "kernel-shap", "saliency"))
_PERTURBATION = tuple(map(Variant.of, PERTURBATION))


_CLOCK = (
    "Processor time of one image at a time, as in the paper; explainers here draw their perturbed "
    "copies of an image in batches."
)
TIMES = (
    *(
        Claim(
            f"{label}: SSplain takes no longer than the slowest of the other perturbation "
            "methods, Extremal Perturbation.",
            "4.3, H, Table 1",
            "times",
            _times(dataset, OURS, (EXTREMAL,)),
            _CLOCK,
        )
        for dataset, label in (("rop", "ROP"), ("mnist", "MNIST"), ("fmnist", "FMNIST"))
    ),
    *(
        Claim(
            f"{label}: LIME, KernelSHAP and Occlusion are faster than SSplain.",
            "H, Table 1",
            "times",
            both(*(_times(dataset, o, (OURS,)) for o in (_LIME, _SHAP, OCCLUSION))),
            _CLOCK + " The paper has 1.6 s for 20 iterations on a LeNet-5, far more than the "
            "passes through the network need.",
        )
        for dataset, label in (("mnist", "MNIST"), ("fmnist", "FMNIST"))
    ),
    Claim(
        "ROP: Occlusion takes longer than SSplain.",
        "H, Table 1",
        "times",
        _times("rop", OURS, (OCCLUSION,)),
        _CLOCK,
    ),
    *(
        Claim(
            f"{label}: a gradient method (Saliency) is faster than every perturbation method.",
            "4.3, H",
            "times",
            _times(dataset, _SALIENCY, (OURS, *_PERTURBATION)),
            _CLOCK,
        )
        for dataset, label in (("rop", "ROP"), ("mnist", "MNIST"), ("fmnist", "FMNIST"))
    ),
)
