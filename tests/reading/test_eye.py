import dataclasses
import json
import math

import numpy as np
import pytest
import torch

from ssplain import SSplain, preset
from ssplain.errors import SSplainError
from ssplain.models import card
from ssplain.models.calibrated import Calibrated
from ssplain.pages.reading import reading_files
from ssplain.reading.eye import Reader, Reading, _changed
from ssplain.reading.image import look, open_image
from ssplain.reading.opinion import GRADES, ask
from ssplain.reading.quadrants import quadrant_map
from ssplain.reading.table import as_json, as_row
from tests.fundus.eyes import painted_eye
from tests.reading.eyes import SIDE, cross, reader


@pytest.fixture(scope="module")
def reading() -> Reading:
    return reader().read(open_image(cross()), eye="right", disc=(31.5, 31.5, 4.0))


def test_a_reading_has_all_that_was_promised(reading: Reading) -> None:
    assert reading.probabilities.shape == (3,)
    assert reading.probabilities.sum() == pytest.approx(1)
    assert reading.grade == GRADES[int(reading.probabilities.argmax())] == "Plus"
    p = reading.probabilities
    assert reading.severity == pytest.approx(p[0] + 5 * p[1] + 9 * p[2])
    assert reading.vessels.shape == (SIDE, SIDE)
    assert np.array_equal(reading.vessels, cross())
    assert reading.disc == (31.5, 31.5, 4.0)
    assert reading.relevance.shape == (SIDE, SIDE)
    assert not reading.relevance[cross() == 0].any()
    with pytest.raises(dataclasses.FrozenInstanceError):
        reading.grade = "Normal"  # type: ignore[misc]


def test_quadrants_know_what_the_grade_rests_on(reading: Reading) -> None:
    """The network looks at the upper left only: without it Normal, alone Plus."""
    names = ["superior temporal", "superior nasal", "inferior temporal", "inferior nasal"]
    assert [one.name for one in reading.quadrants] == names
    upper_left, *others = reading.quadrants
    assert upper_left.removed.grade == "Normal"
    assert upper_left.alone.grade == "Plus"
    for one in others:
        assert one.removed.grade == "Plus"
        assert one.alone.grade == "Normal"
        assert one.explanation_share < upper_left.explanation_share
    assert sum(one.explanation_share for one in reading.quadrants) == pytest.approx(1)
    assert sum(one.vessel_share for one in reading.quadrants) == pytest.approx(1)


def test_quadrants_are_measured(reading: Reading) -> None:
    wound, straight, *_ = (one.vessels for one in reading.quadrants)
    assert (wound.tortuosity or 0) > (straight.tortuosity or 0) == 0
    assert straight.length_px == pytest.approx(26, abs=1)
    assert straight.calibre_px == pytest.approx(2, abs=0.1)
    assert straight.calibre_dd == pytest.approx((straight.calibre_px or 0) / 8)
    assert wound.length_px > 30


def test_small_changes_move_it_little(reading: Reading) -> None:
    found = reading.stability
    assert len(found.opinions) == 7
    assert found.lowest <= reading.severity <= found.highest
    # this network sees brightness
    assert found.opinions["10 % darker"].severity < reading.severity
    assert found.opinions["larger by 5 %"].severity != reading.severity


def test_each_change_has_the_opinion_of_its_own_picture(reading: Reading) -> None:
    network = reader()
    seen = look(open_image(cross()), disc=(31.5, 31.5, 4.0))
    for name, picture in _changed(seen, network.frame(seen)).items():
        (own,) = ask(network.networks["segmented"], [picture])
        assert reading.stability.opinions[name].severity == pytest.approx(own.severity, abs=1e-4)


def test_the_mirrored_eye_is_graded_in_the_mirrored_square() -> None:
    """The field of a photograph may lie off its middle."""
    network = reader()
    seen = dataclasses.replace(look(open_image(cross())), centre=(20.0, 24.0), side=50.0)
    frame = network.frame(seen)
    picture = frame.to_network(seen.vessels)
    pictures = [picture, picture.flip(-1), _changed(seen, frame)["mirrored"]]
    whole, mirrored, found = ask(network.networks["segmented"], pictures)
    assert found.severity == pytest.approx(mirrored.severity, abs=1e-4)
    assert found.severity != pytest.approx(whole.severity, abs=0.1)


def test_what_is_missing_is_said() -> None:
    found = reader().read(open_image(cross()))
    assert found.disc is None
    assert {one.name for one in found.quadrants} >= {"upper left", "lower right"}
    assert all(one.vessels.calibre_dd is None for one in found.quadrants)
    told = " ".join(found.warnings)
    assert "No optic disc is known" in told
    assert "left or a right eye is not known" in told
    # one has nothing to say where it is given
    given = reader().read(open_image(cross()), eye="left", disc=(31.5, 31.5, 4.0))
    assert not any("not known" in warning for warning in given.warnings)
    assert given.quadrants[0].name == "superior nasal"


def test_the_same_eye_is_read_the_same_from_any_kind_of_array() -> None:
    first = reader().read(open_image(cross()))
    for other in (
        (255 * cross()).astype(np.uint8),
        torch.from_numpy(cross())[None],
        np.repeat(cross()[..., None], 3, axis=2),
        np.pad(cross()[8:56], ((8, 8), (0, 0))),
    ):
        assert as_json(reader().read(open_image(other))) == as_json(first)


def test_an_oblong_image_is_not_squeezed() -> None:
    """Set on a square: the grade of an eye does not depend on black bars."""
    wide = np.pad(cross(), ((0, 0), (16, 16)))
    tall = np.pad(wide, ((16, 16), (0, 0)))
    found = [reader().read(open_image(image)).severity for image in (wide, tall)]
    assert found[0] == pytest.approx(found[1], abs=1e-6)


@pytest.mark.parametrize(
    ("image", "complaint"),
    [
        (np.zeros((64, 64)), "is black"),
        (np.full((64, 64), 0.5), "no colour photograph"),
        (1 - cross(), "no colour photograph"),
        (np.ones((8, 8)), "at least 32 x 32"),
        (np.full((64, 64), np.nan), "finite values"),
        (np.full((64, 64), 7.0), "finite values"),
        (np.zeros((4, 64, 64, 3)), "shape"),
        (np.pad(np.ones((3, 3)), 40), "No vessels were found"),
    ],
)
def test_what_is_no_eye_is_refused(image: np.ndarray, complaint: str) -> None:
    with pytest.raises(SSplainError, match=complaint):
        reader().read(open_image(image))


def test_mistakes_are_told() -> None:
    with pytest.raises(SSplainError, match="left or right, not 'both'"):
        reader().read(open_image(cross()), eye="both")
    with pytest.raises(SSplainError, match="is not in an image"):
        reader().read(open_image(cross()), disc=(500, 3, 4))


def test_ripples_of_jpeg_are_left_out_and_said() -> None:
    noise = 0.05 * np.random.default_rng(0).random((SIDE, SIDE)).astype(np.float32)
    seen = look(open_image(np.maximum(cross(), noise)))
    assert np.array_equal(seen.vessels > 0, cross() > 0)
    assert "ground is not black" in seen.warnings[0]


def test_the_progress_is_told() -> None:
    steps: list[tuple[float, float]] = []

    def tell(done: float, total: float, what: str = "", /) -> None:
        assert what
        steps.append((done, total))

    reader().read(open_image(cross()), progress=tell)
    assert [done for done, _ in steps] == sorted(done for done, _ in steps)
    assert steps[-1][0] == steps[-1][1]


def test_tables_hold_plain_values(reading: Reading) -> None:
    tree, row = as_json(reading), as_row(reading)
    assert json.loads(json.dumps(tree, allow_nan=False)) == tree
    assert "research" in tree["notice"]
    assert len(tree["quadrants"]) == 4
    assert row["upper_left_severity_removed"] == pytest.approx(
        reading.quadrants[0].removed.severity, abs=1e-5
    )
    assert all(value is None or isinstance(value, str | int | float) for value in row.values())
    second = tree["second_opinion"]
    if second["contributions"]:
        total = sum(second["contributions"].values())
        assert second["severity"] == pytest.approx(min(max(total, 1), 9), abs=1e-4)
    assert not math.isnan(reading.severity)


def test_the_page_stands_alone_and_trusts_no_name(reading: Reading) -> None:
    page = reading_files(reading, "<script>alert(1)</script>.png")["eye.html"].decode()
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert "http://" not in page.replace("http-equiv", "")
    assert "https://" not in page
    assert "research tool" in page
    assert page.count("data:image/png;base64,") == 3
    for quadrant in reading.quadrants:
        assert quadrant.name in page
    files = reading_files(reading, "eye.png")
    assert sorted(files) == [
        "explanation.png",
        "eye.html",
        "reading.json",
        "reading.npz",
        "vessels.png",
    ]


def test_an_eye_is_explained_in_40_passes_with_the_settings_of_the_ranking() -> None:
    for explainer in Reader.of("googlenet-rop").explainers.values():
        told = explainer.settings()
        # the empty picture is looked at once
        assert told["iterations"] + (told["start"] == "gradient") + told["coarse"] + 1 == 40
        shared: dict[str, object] = {**preset("rop", "ranking")}
        del shared["iterations"]
        assert {name: told[name] for name in shared} == shared


def test_segmented_eyes_and_photographs_are_graded_on_the_scales_of_the_card() -> None:
    networks, about = Reader.of("googlenet-rop").networks, card("googlenet-rop")
    for kind, borders in (("segmented", about.segmented), ("photograph", about.photographs)):
        network = networks[kind]  # type: ignore[index]
        assert isinstance(network, Calibrated)
        assert {"ill": [network.a, network.b], "plus": [network.c, network.d]} == borders


@pytest.mark.slow
def test_photographs_have_a_scale_of_their_own() -> None:
    shipped = Reader.of("googlenet-rop")
    assert isinstance(shipped.networks["photograph"], Calibrated)
    short = {kind: SSplain(one, channels=1, iterations=1) for kind, one in shipped.networks.items()}
    reader = dataclasses.replace(shipped, explainers=short)
    painted = painted_eye(label=2)
    seen = look(open_image(painted.photo))
    frame = reader.frame(seen)
    picture = frame.to_network(seen.vessels)
    plain, scaled = (
        ask(reader.networks[kind], [picture])[0].severity for kind in ("segmented", "photograph")
    )
    photo, given = (reader.read(open_image(one)) for one in (painted.photo, seen.vessels))
    assert photo.severity == pytest.approx(scaled, abs=1e-4)
    assert abs(scaled - plain) > 0.1
    # the explanation and what is asked of quadrants are on that scale, too
    explained = photo.explanation.probabilities[0].tolist()
    assert explained == pytest.approx(photo.probabilities, abs=1e-4)
    places = quadrant_map(frame.shape, seen.centre if seen.disc is None else seen.disc[:2])
    rest = frame.to_network(np.where(places == 0, 0, seen.vessels))
    (without,) = ask(reader.networks["photograph"], [rest])
    assert photo.quadrants[0].removed.severity == pytest.approx(without.severity, abs=1e-4)
    assert given.severity == pytest.approx(
        ask(
            reader.networks["segmented"],
            [reader.frame(look(open_image(seen.vessels))).to_network(seen.vessels)],
        )[0].severity,
        abs=1e-4,
    )
