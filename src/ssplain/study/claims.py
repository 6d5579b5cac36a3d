"""What the paper claims and numbers can decide, in our words, each with its test."""

from dataclasses import dataclass

from ssplain.explain.registry import METHODS, names
from ssplain.study.times import key
from ssplain.study.verdicts import Test, ahead, both, every_stage, level, no_worse

OURS, L1 = "SSplain-0", "SSplain-1"
NINE = tuple(METHODS[name].title for name in (*names("gradient"), *names("perturbation")))
FAMILY = tuple(METHODS[name].title for name in names("perturbation"))
EXTREMAL, OCCLUSION, IXG = "Extremal Perturbation", "Occlusion", "Input x Gradient"


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
    "SSplain's scores are zero off the support by construction, so it inserts no background before "
    "the whole image is in. The image itself as a map has the highest possible kappa_s."
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


def _comparison(study: str, where: str, label: str, before: str = "") -> tuple[Claim, ...]:
    """Return the claims that the paper repeats for each comparison."""
    return (
        Claim(
            f"{label}: taking SSplain-0's first pixels away harms accuracy more than those of any "
            "competitor.",
            where,
            study,
            ahead(OURS, NINE, "deletion"),
            before + DELETION,
        ),
        Claim(
            f"{label}: inserting SSplain-0's first pixels gives more accuracy than those of any "
            "competitor.",
            where,
            study,
            ahead(OURS, NINE, "insertion"),
            before + INSERTION,
        ),
        Claim(
            f"{label}: SSplain-0 inserts more of the image's brightness at the same share of "
            "pixels than any competitor.",
            where,
            study,
            ahead(OURS, NINE, "kappa"),
            before + KAPPA,
        ),
        Claim(
            f"{label}: SSplain-0 settles earlier in the insertion than any competitor.",
            where,
            study,
            ahead(OURS, NINE, "settled"),
            before + SETTLED,
        ),
    )


def _connected(study: str, where: str, label: str, before: str) -> Claim:
    return Claim(
        f"{label}: the first pixels of SSplain-0 form larger connected parts than those of any "
        "competitor.",
        where,
        study,
        ahead(OURS, NINE, "connected"),
        before + CONNECTED,
    )


ROP = (
    *_comparison("rop", "4.5, Figure 2a", "ROP", SIMULATED),
    _connected("rop", "4.5, Figure 2a", "ROP", SIMULATED),
    Claim(
        "ROP: SSplain-1, too, beats every competitor in deletion, insertion and connected parts.",
        "4.5, Figure 2a",
        "rop",
        both(*(ahead(L1, NINE, measure) for measure in ("deletion", "insertion", "connected"))),
        SIMULATED + "As for SSplain-0.",
    ),
    Claim(
        "ROP: SSplain-0 does as well as SSplain-1 or better in all analyses.",
        "4.5",
        "rop",
        no_worse(OURS, L1, ("deletion", "insertion", "connected", "kappa")),
        SIMULATED + "The two differ in one projection only.",
    ),
    Claim(
        "ROP: SSplain-0 is slightly better than SSplain-1 in deletion and insertion.",
        "G.1",
        "rop",
        both(ahead(OURS, (L1,), "deletion"), ahead(OURS, (L1,), "insertion")),
        SIMULATED + "The two differ in one projection only.",
    ),
    Claim(
        "ROP: except in deletion, Extremal Perturbation comes third, right after SSplain's two "
        "forms.",
        "4.5, Figure 2a",
        "rop",
        both(
            *(
                ahead(EXTREMAL, tuple(n for n in NINE if n != EXTREMAL), measure)
                for measure in ("insertion", "connected", "kappa")
            )
        ),
        SIMULATED + "Its maps are smooth blobs that cover vessels and what lies between them.",
    ),
    Claim(
        "ROP: competitors give importance to the background, SSplain does not.",
        "4.5, Figure 2a; 4.6",
        "rop",
        ahead(OURS, tuple(n for n in NINE if n != IXG), "background", "maps"),
        SIMULATED + BACKGROUND + " Input x Gradient is left out, as the paper excepts it.",
    ),
    Claim(
        "ROP: of the competitors only Input x Gradient keeps to the vessels.",
        "4.6",
        "rop",
        ahead(IXG, tuple(n for n in NINE if n != IXG), "background", "maps"),
        SIMULATED + "Integrated Gradients from black and DeepSHAP against black multiply by the "
        "image too: what is zero in the image is zero in their maps.",
    ),
    *(
        Claim(
            f"ROP: at the same {axis}, SSplain-0's pixels are more like the image's {what} than "
            "any competitor's.",
            "4.5, Figure 2b",
            "rop",
            ahead(OURS, NINE, measure, group),
            SIMULATED + why,
        )
        for measure, what, why in (
            ("curvature", "tortuosity (curvature similarity)", CURVATURE),
            ("dilation", "dilation (dilation similarity)", DILATION),
        )
        for group, axis in (("all", "share of pixels s"), ("kappa", "brightness kappa_s"))
    ),
    Claim(
        "ROP: SSplain-0 gives more importance to tortuous and to wide vessels than to others.",
        "4.6, F.1",
        "rop",
        both(
            level(OURS, "curvature, random 0 to ideal 1", "support", least=0.0),
            level(OURS, "mean-diameter, random 0 to ideal 1", "support", least=0.0),
        ),
        SIMULATED + "Against a random order of the same number of vessel pixels (0), with the "
        "best order as 1.",
    ),
    Claim(
        "ROP: Input x Gradient keeps to the vessels too, but its scores are less smooth.",
        "4.6",
        "rop",
        ahead(OURS, (IXG,), "connected"),
        SIMULATED + "Smooth is read as the paper measures it, by connected parts.",
    ),
)
MAPS = tuple(
    Claim(
        f"{label}: SSplain keeps to the image's own pixels while other methods give importance to "
        "the background.",
        where,
        study,
        ahead(OURS, (*NINE[:1], IXG, "Guided Grad-CAM", OCCLUSION, EXTREMAL), "background", "maps"),
        BACKGROUND + " The five methods of the figure are compared.",
    )
    for study, label, where in (
        ("maps-mnist", "MNIST", "F.2, Figure 9a"),
        ("maps-fmnist", "FMNIST", "F.2, Figure 9b"),
    )
)
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
        every_stage("spearman, start held fixed", 0.9),
        SIMULATED + "The partial rank correlation holds the start fixed.",
    ),
)
MNIST = _comparison("mnist", "4.7, Figure 5a", "MNIST")
FMNIST = (
    *_comparison("fmnist", "4.7, Figure 5b", "FMNIST")[1:],
    Claim(
        "FMNIST: Occlusion and Input x Gradient do better than SSplain-0 in deletion.",
        "4.7, Figure 5b",
        "fmnist",
        both(ahead(OCCLUSION, (OURS,), "deletion"), ahead(IXG, (OURS,), "deletion")),
        DELETION,
    ),
    Claim(
        "FMNIST: these two are clearly behind SSplain-0 in insertion.",
        "4.7, Figure 5b",
        "fmnist",
        ahead(OURS, (OCCLUSION, IXG), "insertion"),
        INSERTION,
    ),
    Claim(
        "FMNIST: no other competitor than Occlusion and Input x Gradient does better than "
        "SSplain-0 in deletion.",
        "4.7, Figure 5b",
        "fmnist",
        ahead(OURS, tuple(n for n in NINE if n not in (OCCLUSION, IXG)), "deletion"),
        DELETION,
    ),
)
_FULL = "sparsity and smoothness"
ABLATION = tuple(
    Claim(
        f"Ablation: sparsity and smoothness together give {what} than either alone or neither.",
        "B, Figure 6",
        "ablation",
        ahead(_FULL, ("sparsity only", "smoothness only", "neither"), measure),
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
        ahead("budget 50%", ("budget 25%", "budget 12.5%", "budget 10%"), measure),
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
_FREE = "SSplain-0 without support"
_PRINTED, _CONVERGED = "Extremal Perturbation, as printed", "Extremal Perturbation, converged"
EXTREMAL_CLAIMS = (
    Claim(
        "Even without the support constraint SSplain gives no importance to the background.",
        "G.2, Figure 11",
        "extremal",
        level(_FREE, "background", "maps", most=0.05),
        SIMULATED + "Where the image is zero the loss does not depend on the mask; only total "
        "variation and the budget move it there. " + BACKGROUND,
    ),
    Claim(
        "Pixel-wise Extremal Perturbation gives importance to the background.",
        "G.2, Figure 11",
        "extremal",
        ahead(_FREE, (_PRINTED,), "background", "maps"),
        SIMULATED + BACKGROUND,
    ),
    Claim(
        "Pixel-wise Extremal Perturbation gives much less sparse masks than SSplain.",
        "G.2, Figure 11",
        "extremal",
        ahead(_FREE, (_PRINTED,), "sparsity", "maps"),
        SIMULATED + "As printed, its area term is a mean over 50,176 pixels: each gets so small a "
        "gradient that 400 iterations do not reach the area that was asked for.",
    ),
    Claim(
        "The same holds when Extremal Perturbation is given an area term that converges (our "
        "check, not the paper's).",
        "G.2, Figure 11",
        "extremal",
        both(
            ahead(_FREE, (_CONVERGED,), "background", "maps"),
            ahead(_FREE, (_CONVERGED,), "sparsity", "maps"),
        ),
        SIMULATED + "Tells whether the claim is about the method or about its optimisation.",
    ),
)
_BRIGHT, _ONES = "from the intensity", "from ones"
START = (
    *(
        Claim(
            f"Starting from the intensity beats starting from ones in {what}.",
            "I.2, Figure 13",
            "start",
            both(*(ahead(_BRIGHT, (_ONES,), m, g) for m, g in tests)),
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
            ahead(_BRIGHT, (_ONES,), "sparsity", "maps"),
            ahead(_BRIGHT, (_ONES,), "roughness", "maps"),
        ),
        SIMULATED + "Sparse is read as the Gini index over all pixels, smooth as a low total "
        "variation of the map scaled to [0, 1].",
    ),
)
PREDICTED = (
    *_comparison("predicted-rop", "J.1.1, Figure 14", "ROP, predicted", SIMULATED + TARGETS),
    _connected("predicted-rop", "J.1.1, Figure 14", "ROP, predicted", SIMULATED + TARGETS),
    *_comparison("predicted-mnist", "J.1.2, Figure 15", "MNIST, predicted", TARGETS),
    *_comparison("predicted-fmnist", "J.1.3, Figure 16", "FMNIST, predicted", TARGETS)[1:],
    Claim(
        "FMNIST, predicted: Occlusion does better than SSplain-0 in deletion.",
        "J.1.3, Figure 16",
        "predicted-fmnist",
        ahead(OCCLUSION, (OURS,), "deletion"),
        TARGETS + DELETION,
    ),
)


def _times(dataset: str, title: str, others: tuple[str, ...]) -> Test:
    return ahead(key(dataset, title), tuple(key(dataset, o) for o in others), "seconds", "times")


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
            both(*(_times(dataset, o, (OURS,)) for o in ("LIME", "KernelSHAP", OCCLUSION))),
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
            _times(dataset, "Saliency", (OURS, *FAMILY)),
            _CLOCK,
        )
        for dataset, label in (("rop", "ROP"), ("mnist", "MNIST"), ("fmnist", "FMNIST"))
    ),
)

CLAIMS: tuple[Claim, ...] = (
    *ROP,
    *SANITY,
    *MNIST,
    *FMNIST,
    *MAPS,
    *ABLATION,
    *BUDGETS,
    *NORMS,
    *EXTREMAL_CLAIMS,
    *START,
    *PREDICTED,
    *TIMES,
)
