import json
from pathlib import Path

import numpy as np
import pytest
import typer
from PIL import Image
from scipy.ndimage import binary_dilation
from typer.testing import CliRunner

from ssplain.cli.train import train
from ssplain.errors import SSplainError
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
