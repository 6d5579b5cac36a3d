from dataclasses import replace
from typing import get_args

import torch

from ssplain.data import bundled
from ssplain.desk.library import Library
from ssplain.desk.scales import asked
from ssplain.desk.subject import Subject
from ssplain.models import load
from ssplain.models.calibrated import Kind, on_scale


def test_eyes_that_were_read_are_asked_about_on_their_own_scales() -> None:
    library = Library(["googlenet-rop"])
    image = bundled("rop")[0][1]  # the scales disagree about it
    given = Subject.plain(image)
    read = replace(given, vessels=image[0])
    eye = replace(read, shown=image.expand(3, -1, -1))
    assert (given.eye, read.eye, eye.eye) == (None, "segmented", "photograph")
    region = torch.zeros(image.shape[1:], dtype=torch.bool)
    network = load("googlenet-rop").eval()
    scaled = {kind: on_scale(network, "googlenet-rop", kind) for kind in get_args(Kind)}
    told = []
    for subject, model in (
        (given, network),
        (read, scaled["segmented"]),
        (eye, scaled["photograph"]),
    ):
        with torch.inference_mode():
            wanted = model(image[None]).softmax(1)[0]
        found = torch.tensor(library.ask("googlenet-rop", subject, region).whole)
        torch.testing.assert_close(found, wanted, rtol=0, atol=1e-4)
        told.append(float(found[0]))
        source = asked("googlenet-rop", subject)
        assert library.about(source)["name"] == "googlenet-rop"
        map_ = library.explain(source, image, "saliency", 1)
        assert map_.scores.shape == image.shape
    assert told[0] < told[1] - 0.1 < told[2] - 0.2  # of the chance to be healthy
