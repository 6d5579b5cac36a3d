import base64
import json
import zlib
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ssplain.errors import SSplainError
from ssplain.metrics import rank_pixels
from ssplain.pages.examples import (
    NEVER,
    SHARES,
    Examples,
    brightness,
    colours,
    embedded,
    entry,
    pack,
    read_examples,
)
from ssplain.report.render import heat, top_view
from tests.pages.folder import HOSTILE, NAMES, write_studies


def test_the_shares_rise_from_a_half_to_a_hundred_percent_and_fit_a_byte() -> None:
    assert SHARES[0] == 0.005
    assert SHARES[-1] == 1
    assert all(low < high for low, high in pairwise(SHARES))
    assert len(SHARES) <= NEVER
    assert {0.05, 0.1, 0.2, 0.5} <= set(SHARES)
    steps = np.diff(SHARES)
    assert steps[0] < steps[len(steps) // 2] < steps[-1]  # finer near the top


@given(seed=st.integers(0, 1000), ties=st.booleans())
def test_each_position_shows_what_a_picture_of_that_share_shows(seed: int, ties: bool) -> None:
    draws = np.random.default_rng(seed)
    scores = draws.normal(size=(9, 13))
    if ties:
        scores = scores.round()
    inside = draws.random((9, 13)) < 0.6
    whole, within = entry(scores), entry(scores, inside)
    for at in draws.choice(len(SHARES), 12):
        count = round(SHARES[at] * scores.size)
        shown = whole <= at
        assert shown.sum() == count
        assert count in (0, scores.size) or scores[shown].min() >= scores[~shown].max()
        mine = within <= at
        assert mine.sum() == min(count, inside.sum())
        assert not (mine & ~inside).any()
        left = inside & ~mine
        assert not mine.any() or not left.any() or scores[mine].min() >= scores[left].max()


def test_equal_scores_come_in_the_order_of_the_measures() -> None:
    """In reading order a map that is mostly zero would fill the picture from the top."""
    rank = rank_pixels(torch.zeros(1, 1, 20, 20)).rank.reshape(20, 20).numpy()
    at = SHARES.index(0.25)
    shown = entry(np.zeros((20, 20))) <= at
    np.testing.assert_array_equal(shown, rank < 100)
    assert shown[10:].sum() > 30


def test_everything_inside_is_shown_in_the_end() -> None:
    scores = np.arange(20.0).reshape(4, 5)
    inside = scores % 3 == 0
    assert entry(scores).max() < len(SHARES)
    assert ((entry(scores, inside) < len(SHARES)) == inside).all()


def test_scores_are_shown_from_zero_to_the_highest() -> None:
    assert brightness(np.array([[-np.inf, -1.0, 0.5, 1.0]])).tolist() == [[0, 0, 128, 255]]
    assert brightness(np.zeros((1, 2))).tolist() == [[0, 0]]


def test_the_colours_are_those_of_the_figures() -> None:
    image = torch.tensor([[[0.0, 17 / 255, 1.0]]])
    kept = torch.tensor([[[True, True, False]]])
    tables = colours()
    shown = [tables["kept"][0], tables["kept"][17], tables["purple"]]
    assert top_view(image, kept)[0].tolist() == shown
    drawn = heat(image, torch.ones_like(kept))[0].tolist()
    assert drawn == [tables["scores"][at] for at in (0, 17, 255)]


def test_images_and_planes_come_back_from_what_the_page_holds(tmp_path: Path) -> None:
    examples = read_examples(write_studies(tmp_path) / "mnist" / "examples.npz")
    packed = json.loads(json.dumps(pack(examples)))
    assert packed["names"] == list(NAMES)
    assert packed["counts"][SHARES.index(0.05)] == 39
    for i, run in enumerate(packed["images"]):
        planes = np.frombuffer(zlib.decompress(base64.b64decode(run)), np.uint8)
        image, *rest = planes.reshape(-1, packed["height"], packed["width"])
        np.testing.assert_array_equal(image, examples.images[i])
        assert len(rest) == 3 * len(NAMES)
        np.testing.assert_array_equal(rest[3], entry(examples.scores[i, 1], image > 0))
        np.testing.assert_array_equal(rest[4], entry(examples.scores[i, 1]))
        np.testing.assert_array_equal(rest[5], brightness(examples.scores[i, 1]))


def test_no_text_can_leave_the_data() -> None:
    html = embedded({"titles": [HOSTILE]})
    inner = str(html).removeprefix('<script type="application/json">').removesuffix("</script>\n")
    assert "<" not in inner
    assert json.loads(inner) == {"titles": [HOSTILE]}


@pytest.mark.parametrize(
    "wrong",
    [
        {"scores": np.zeros((2, 3, 5, 4), np.float32)},
        {"images": np.zeros((2, 4, 4))},
        {"titles": np.array(["one"])},
    ],
)
def test_examples_that_do_not_fit_together_are_named(
    tmp_path: Path, wrong: dict[str, np.ndarray[tuple[int, ...], np.dtype[np.generic]]]
) -> None:
    right = {
        "images": np.zeros((2, 4, 4), np.uint8),
        "titles": np.array(["a", "b"]),
        "names": np.array(["x", "y", "z"]),
        "scores": np.zeros((2, 3, 4, 4), np.float32),
    }
    np.savez(tmp_path / "right.npz", **right)  # type: ignore[arg-type]
    np.savez(tmp_path / "wrong.npz", **(right | wrong))
    assert isinstance(read_examples(tmp_path / "right.npz"), Examples)
    with pytest.raises(SSplainError, match=r"wrong\.npz holds .* run its study again"):
        read_examples(tmp_path / "wrong.npz")


def test_a_file_that_holds_no_examples_is_named(tmp_path: Path) -> None:
    (tmp_path / "text.npz").write_text("no archive")
    for name in ("text.npz", "missing.npz"):
        with pytest.raises(SSplainError, match=f"{name} holds no example maps"):
            read_examples(tmp_path / name)
