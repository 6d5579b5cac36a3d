import json
from pathlib import Path

import numpy as np
import pytest
import typer
from PIL import Image
from scipy.ndimage import binary_dilation
from typer.testing import CliRunner

from ssplain.cli.train import train
from ssplain.cli.train_pixels import card_for
from ssplain.errors import SSplainError
from ssplain.fundus import FAINT, SURE
from ssplain.models import card, load
from ssplain.models.unet import UNet
from ssplain.train import disc, vessels
from ssplain.train.pixels import Plan, Round
from tests.fundus.eyes import DISC, painted_eye

app = typer.Typer()
app.command()(train)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six eyes of each camera, of which the last two are left out of training."""
    folder = tmp_path_factory.mktemp("hvdropdb")
    eye = painted_eye()
    photo, strokes = eye.photo, binary_dilation(eye.vessels > 0.5)
    row, column = np.ogrid[:480, :640]
    spot = np.hypot(row - DISC[0], column - DISC[1]) < DISC[2]
    for camera in ("retcam", "neo"):
        for middle, mask in (("_disc", spot), ("", strokes)):
            for kind, pixels in (("rgb", photo), ("mask", mask.astype(np.float32))):
                (folder / f"{camera}{middle}_{kind}").mkdir()
                for number in range(6):
                    image = Image.fromarray(np.rint(255 * pixels).astype(np.uint8))
                    image.save(folder / f"{camera}{middle}_{kind}" / f"{number:02}.png")
    return folder


@pytest.mark.parametrize(
    ("what", "found"),
    [
        ("disc", "On 2 of 2 photographs left out without a disc in view it found one."),
        ("vessels", "of what is found was drawn. On painted photographs left out: Dice "),
    ],
)
def test_a_network_is_judged_on_what_was_left_out_and_written_with_its_card(
    what: str,
    found: str,
    home: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def trained(data: Path | None, plan: Plan, *, checkpoint: Path, progress: object) -> UNet:
        assert data == home
        assert callable(progress)
        assert plan.bfloat16
        checkpoint.write_bytes(b"")
        progress(Round(plan.epochs, 0.1))
        network = load(f"unet-{what}")
        assert isinstance(network, UNet)
        return network

    room = {"disc": disc, "vessels": vessels}[what]
    monkeypatch.setattr(room, f"train_{what}", trained)
    result = CliRunner().invoke(
        app,
        [
            what,
            "--data",
            str(home),
            "--out",
            str(tmp_path / "net"),
            "--epochs",
            "3",
            "--bfloat16",
        ],
    )
    assert result.exit_code == 0, result.output
    about = card(tmp_path / "net")
    assert about.name == f"unet-{what}"
    assert about.classes == card(f"unet-{what}").classes
    assert about.accuracy > 0.8
    assert found in about.note
    assert "HVDROPDB" in about.note
    assert "CC BY 4.0" in about.note
    first = json.loads(result.output.splitlines()[0])
    assert first["photographs"] == 2
    assert isinstance(load(tmp_path / "net"), UNet)
    assert not (tmp_path / "net" / "checkpoint.safetensors").exists()


@pytest.mark.parametrize("what", ["vessels", "disc"])
def test_without_the_data_set_one_sentence_says_what_to_do(what: str, tmp_path: Path) -> None:
    arguments = [what, "--data", str(tmp_path / "none"), "--out", str(tmp_path / "net")]
    result = CliRunner().invoke(app, arguments)
    assert isinstance(result.exception, SSplainError)
    assert "10.17632/xw5xc7xrmp.3" in str(result.exception)


def test_a_card_tells_drawn_and_painted_vessels_and_both_bounds_apart() -> None:
    cases = [
        {
            "case": f"vessels {kind} on {camera} photographs",
            "from": least,
            "dice": share + off,
            **(
                {"calibre_error_median": share + off}
                if kind == "painted"
                else {
                    "centrelines_found": share + off + 0.1,
                    "centrelines_touched": share + off + 0.2,
                    "found_lines_that_were_drawn": share + off + 0.3,
                }
            ),
        }
        for least, share in ((FAINT, 0.5), (SURE, 0.1))
        for camera, off in (("retcam", 0.0), ("neo", 0.01))
        for kind, off in ((("drawn"), off), ("painted", off + 0.05))
    ]
    told = card_for("vessels", Plan(epochs=1, steps=1), cases)
    assert told.accuracy == pytest.approx(0.605)
    faint, sure = told.note.split(f"From a value of {FAINT} on")[1].split(f"value of {SURE} on")
    assert "along 70.0% and 71.0%, a found centreline along 60.0% and 61.0%; 80.0%" in faint
    assert "Dice 55.0% and 56.0%, calibre of branches off by 55.0% and 56.0%" in faint
    assert "along 30.0% and 31.0%" in sure
    assert "Dice 15.0% and 16.0%" in sure
