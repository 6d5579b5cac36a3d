"""The paper's claims about SSplain against its competitors, in our words, each with its test."""

from ssplain.claims.claim import (
    BACKGROUND,
    CONNECTED,
    CURVATURE,
    DELETION,
    DILATION,
    INSERTION,
    KAPPA,
    SETTLED,
    SIMULATED,
    TARGETS,
    Claim,
)
from ssplain.claims.verdicts import ahead, both, level, no_worse
from ssplain.study.declare import EXTREMAL, IXG, L1, NINE, OCCLUSION, OURS, SHOWN


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
            level(OURS, "curvature-gain", "support", least=0.0),
            level(OURS, "diameter-gain", "support", least=0.0),
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
        ahead(OURS, SHOWN[1:], "background", "maps"),
        BACKGROUND + " The five methods of the figure are compared.",
    )
    for study, label, where in (
        ("maps-mnist", "MNIST", "F.2, Figure 9a"),
        ("maps-fmnist", "FMNIST", "F.2, Figure 9b"),
    )
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
