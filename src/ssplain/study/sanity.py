"""The sanity check as a study: the maps of a network that loses its weights block by block."""

from dataclasses import replace
from pathlib import Path

from torch import Tensor, nn

from ssplain.errors import SSplainError
from ssplain.files import write_whole
from ssplain.metrics import Evaluation, Sanity, sanity_check
from ssplain.metrics.randomise import blocks
from ssplain.progress import Progress
from ssplain.question.inputs import find_support, start_mask
from ssplain.report.evaluation import evaluation_csv
from ssplain.report.record import Exhibit, Record
from ssplain.report.sanity import sanity_figure
from ssplain.run.maps import explain_once
from ssplain.run.scene import Scene
from ssplain.run.store import Store
from ssplain.study.engine import finish, manifest
from ssplain.study.kinds import SanityStudy
from ssplain.study.style import save_figure, style
from ssplain.study.tables import csv_text
from ssplain.study.work import passes


def run_sanity(
    study: SanityStudy, scene: Scene, home: Path, *, seed: int = 0, progress: Progress | None = None
) -> Record:
    """Run the sanity check; the maps of each stage are kept, so a stopped run goes on.

    Args:
        study: with one explainer, and the seeds of the random weights.
        scene: the trained network and images.
        home: folder of all studies.
        seed: of all draws but the weights.
        progress: as in `ssplain.study.work.do`.
    """
    variant, store, network = study.variants[0], Store(home / "store"), scene.network
    if not isinstance(network, nn.Module):
        raise SSplainError("Only a torch.nn.Module has weights to randomise; give one as network.")
    settings = variant.all_settings(scene.dataset)
    cost = passes(settings, variant.method, scene) * len(scene.images)
    total = cost * len(study.seeds) * (1 + len(blocks(network, scene.images, **scene.options)))
    done, seconds = 0.0, 0.0

    def maps(model: nn.Module, _: Tensor) -> Tensor:
        nonlocal done, seconds
        there = replace(scene, network=model)
        made = explain_once(store, there, variant.method, settings, scene.labels, seed=seed)
        done, seconds = done + cost, seconds + float(made.seconds.sum())
        if progress is not None:
            progress(done, total, f"{study.name}: {variant.title}")
        return made.joined()

    support = find_support(scene.images, settings["support"])
    start = start_mask(scene.images, support, settings["start"])
    found = sanity_check(
        maps, network, scene.images, start=start, seeds=study.seeds, **scene.options
    )
    stages = by_stage(found, scene.labels)
    folder = home / study.name
    with style():
        figure = save_figure(sanity_figure(found), folder, "sanity")
    write_whole(folder / "likeness.csv", evaluation_csv(stages).encode())
    rows = (
        (stage, seed, float(found.logit_variance[i, j]))
        for i, stage in enumerate(found.stages)
        for j, seed in enumerate(study.seeds)
    )
    write_whole(folder / "logits.csv", csv_text(("stage", "seed", "logit variance"), rows).encode())
    shown = [
        Exhibit(
            figure,
            "The map of one image while the network's blocks get random weights, from the last to "
            "the first, and how alike the maps stay to the trained network's, on the support.",
        ),
        Exhibit("likeness.csv", "Likeness to the trained network's map, mean over the seeds."),
        Exhibit(
            "logits.csv", "Variance of the logits over the images; near 0 the network is dead."
        ),
    ]
    return finish(
        study,
        home,
        {"stages": stages},
        shown,
        images=len(scene.images),
        settings={variant.title: settings, "seeds of the weights": study.seeds},
        manifest=manifest(study, scene, seed),
        seconds=seconds,
    )


def by_stage(found: Sanity, labels: Tensor) -> dict[str, Evaluation]:
    """Return the likeness of each stage's maps to the trained network's, mean over the seeds."""
    measures = {**found.likeness, "spearman-start-fixed": found.partial}
    if found.start_likeness is not None:
        measures["spearman-with-start"] = found.start_likeness
    return {
        stage: Evaluation.of_values({name: v[i].mean(0) for name, v in measures.items()}, labels)
        for i, stage in enumerate(found.stages)
    }
