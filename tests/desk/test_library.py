from dataclasses import replace

import torch

from ssplain.data import bundled
from ssplain.desk.library import Library
from ssplain.desk.subject import Subject
from ssplain.models import load
from ssplain.models.calibrated import on_scale


def test_photographs_are_asked_about_on_their_own_scale() -> None:
    library = Library(["googlenet-rop"])
    image = bundled("rop")[0][40]
    given = Subject.plain(image)
    eye = replace(given, shown=image.expand(3, -1, -1), vessels=image[0])
    assert eye.photograph
    assert not given.photograph
    region = torch.zeros(image.shape[1:], dtype=torch.bool)
    network = load("googlenet-rop").eval()
    for subject, model in (
        (given, network),
        (eye, on_scale(network, "googlenet-rop", "photograph")),
    ):
        with torch.inference_mode():
            wanted = model(image[None]).softmax(1)[0]
        found = torch.tensor(library.ask("googlenet-rop", subject, region).whole)
        torch.testing.assert_close(found, wanted, rtol=0, atol=1e-4)
        source = library.asked("googlenet-rop", subject)
        assert library.about(source)["name"] == "googlenet-rop"
        map_ = library.explain(source, image, "saliency", 1)
        assert map_.scores.shape == image.shape
