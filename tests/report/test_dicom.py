"""Results as DICOM: readable again, of the same study, and valid."""

import io
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import ssplain
from ssplain.data import read_any
from ssplain.explain import Explanation
from ssplain.report import grey, write_png
from ssplain.report.dicom import dicom_files
from ssplain.report.save import pictures
from tests.cli.command import run

pydicom = pytest.importorskip("pydicom", reason="the dicom extra is not installed")
pytest.importorskip("highdicom", reason="the dicom extra is not installed")


def photograph(path: Path, pixels: np.ndarray) -> Path:
    """Write an ophthalmic photograph as a camera does."""
    meta = pydicom.dataset.FileMetaDataset()
    meta.TransferSyntaxUID = pydicom.uid.ExplicitVRLittleEndian
    meta.MediaStorageSOPClassUID = pydicom.uid.OphthalmicPhotography8BitImageStorage
    meta.MediaStorageSOPInstanceUID = pydicom.uid.generate_uid()
    file = pydicom.dataset.FileDataset(str(path), {}, file_meta=meta, preamble=b"\0" * 128)
    file.SOPClassUID = meta.MediaStorageSOPClassUID
    file.SOPInstanceUID = meta.MediaStorageSOPInstanceUID
    file.StudyInstanceUID = pydicom.uid.generate_uid()
    file.SeriesInstanceUID = pydicom.uid.generate_uid()
    file.PatientName, file.PatientID = "Infant^One", "ROP-17"
    file.StudyDate, file.AccessionNumber, file.SeriesNumber = "20260102", "A7", 3
    file.Modality, file.ImageLaterality = "OP", "L"
    file.Rows, file.Columns = pixels.shape[:2]
    colour = pixels.ndim == 3
    file.SamplesPerPixel = 3 if colour else 1
    file.PhotometricInterpretation = "RGB" if colour else "MONOCHROME2"
    if colour:
        file.PlanarConfiguration = 0
    file.BitsAllocated, file.BitsStored, file.HighBit, file.PixelRepresentation = 8, 8, 7, 0
    file.PixelData = pixels.astype(np.uint8).tobytes()
    file.save_as(path)
    return path


@pytest.fixture(scope="module")
def explained() -> Explanation:
    images, labels = ssplain.data.bundled("mnist")
    model = ssplain.models.load("lenet5-mnist")
    return ssplain.SSplain(model, iterations=2).explain(images[:1], labels[:1])


@pytest.fixture
def source(tmp_path: Path, explained: Explanation) -> Path:
    small = (explained.images[0, 0] * 255).round().byte().numpy()
    return photograph(tmp_path / "eye.dcm", small.repeat(4, 0).repeat(5, 1))


def test_files_belong_to_the_study_of_their_source(source: Path, explained: Explanation) -> None:
    files = dicom_files(explained, str(source), None, "lenet5-mnist")
    assert sorted(files) == ["map.dcm", "overlay.dcm"]
    original = pydicom.dcmread(source)
    series = {original.SeriesInstanceUID}
    for content in files.values():
        found = pydicom.dcmread(io.BytesIO(content))
        for name in ("StudyInstanceUID", "PatientID", "PatientName", "StudyDate"):
            assert found[name].value == original[name].value
        assert found.AccessionNumber == "A7"
        assert (found.Rows, found.Columns) == (112, 140)
        series.add(found.SeriesInstanceUID)
    assert len(series) == 3


def test_the_map_holds_the_scores(source: Path, explained: Explanation) -> None:
    files = dicom_files(explained, str(source), None, "lenet5-mnist")
    found = pydicom.dcmread(io.BytesIO(files["map.dcm"]))
    assert found.SOPClassUID.name == "Parametric Map Storage"
    stored = np.asarray(found.pixel_array).reshape(112, 140)
    scores = (explained.scores * explained.support)[0, 0].numpy()
    np.testing.assert_allclose(stored, scores.repeat(4, 0).repeat(5, 1), rtol=1e-6)


def test_the_overlay_is_what_pictures_show(source: Path, explained: Explanation) -> None:
    files = dicom_files(explained, str(source), None, "lenet5-mnist")
    found = pydicom.dcmread(io.BytesIO(files["overlay.dcm"]))
    assert found.SOPClassUID.name == "Secondary Capture Image Storage"
    shown = np.asarray(found.pixel_array)
    assert shown.shape == (112, 140, 3)
    with Image.open(io.BytesIO(pictures(explained)["overlay.png"])) as picture:
        drawn = np.asarray(picture)[::8, ::8]
    np.testing.assert_array_equal(shown[::4, ::5], drawn)


def test_the_command_answers_dicom_in_dicom(source: Path, tmp_path: Path) -> None:
    shared = ("--model", "lenet5-mnist", "--iterations", 2, "--stability", 0)
    study = pydicom.dcmread(source).StudyInstanceUID
    done = run("explain", source, *shared, "--dicom", "--out", tmp_path / "with")
    assert done.returncode == 0, done.stderr
    written = sorted((tmp_path / "with").rglob("*.dcm"))
    assert [path.name for path in written] == ["map.dcm", "overlay.dcm"]
    assert {pydicom.dcmread(path).StudyInstanceUID for path in written} == {study}
    assert run("explain", source, *shared, "--out", tmp_path / "without").returncode == 0
    assert not list((tmp_path / "without").rglob("*.dcm"))


def test_images_that_are_not_dicom_get_no_files(tmp_path: Path, explained: Explanation) -> None:
    write_png(grey(explained.images[0]), tmp_path / "eye.png")
    assert dicom_files(explained, str(tmp_path / "eye.png"), None, "x") == {}


def test_colour_photographs_are_read(tmp_path: Path) -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (6, 8, 3))
    image = read_any(photograph(tmp_path / "eye.dcm", pixels))
    np.testing.assert_allclose(image.permute(1, 2, 0), pixels / 255, atol=1e-6)


@pytest.mark.skipif(shutil.which("dciodvfy") is None, reason="dicom3tools is not installed")
@pytest.mark.parametrize("name", ["map.dcm", "overlay.dcm"])
def test_files_are_valid(source: Path, explained: Explanation, tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(dicom_files(explained, str(source), None, "lenet5-mnist")[name])
    done = subprocess.run(["dciodvfy", str(path)], capture_output=True, text=True, check=False)  # noqa: S607
    faults = re.findall(r"^Error.*$", done.stderr, re.MULTILINE)
    assert not faults, faults
