"""Tests of reading DICOM files, with pydicom and without."""

import sys
from pathlib import Path

import numpy as np
import pytest

from ssplain.data.dicom import dicom_eye, read_dicom
from ssplain.data.readers import eye_of
from ssplain.errors import SSplainError

VALUES = np.arange(48, dtype=np.uint16).reshape(6, 8) * 80


def _write(path: Path, photometric: str = "MONOCHROME2", frames: int = 1) -> Path:
    pydicom = pytest.importorskip("pydicom", reason="the dicom extra is not installed")
    meta = pydicom.dataset.FileMetaDataset()
    meta.TransferSyntaxUID = pydicom.uid.ExplicitVRLittleEndian
    meta.MediaStorageSOPClassUID = pydicom.uid.SecondaryCaptureImageStorage
    meta.MediaStorageSOPInstanceUID = pydicom.uid.generate_uid()
    file = pydicom.dataset.FileDataset(str(path), {}, file_meta=meta, preamble=b"\0" * 128)
    file.Rows, file.Columns = VALUES.shape
    file.SamplesPerPixel, file.PixelRepresentation = 1, 0
    file.BitsAllocated, file.BitsStored, file.HighBit = 16, 12, 11
    file.PhotometricInterpretation = photometric
    if frames > 1:
        file.NumberOfFrames = frames
    file.PixelData = VALUES.tobytes() * frames
    file.save_as(path)
    return path


def test_values_are_scaled_by_their_stored_bits(tmp_path: Path) -> None:
    image = read_dicom(_write(tmp_path / "a.dcm"))
    np.testing.assert_allclose(image[0], VALUES / 4095, rtol=1e-6)


def test_small_values_may_be_bright(tmp_path: Path) -> None:
    image = read_dicom(_write(tmp_path / "a.dcm", "MONOCHROME1"))
    np.testing.assert_allclose(image[0], 1 - VALUES / 4095, rtol=1e-6)


def test_several_frames_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SSplainError, match="holds 3 images"):
        read_dicom(_write(tmp_path / "a.dcm", frames=3))


def test_damaged_files_are_named(tmp_path: Path) -> None:
    path = _write(tmp_path / "a.dcm")
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(SSplainError, match=r"a.dcm is not a readable DICOM image"):
        read_dicom(path)
    path.write_bytes(b"nothing")
    with pytest.raises(SSplainError, match=r"a.dcm is not a readable DICOM image"):
        read_dicom(path)


def test_without_the_extra_the_user_is_told_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pydicom", None)
    with pytest.raises(SSplainError, match=r"pip install ssplain\[dicom\]"):
        read_dicom(tmp_path / "a.dcm")


@pytest.mark.parametrize("tag", ["ImageLaterality", "Laterality"])
@pytest.mark.parametrize(
    ("letter", "eye"), [("L", "left"), ("R", "right"), ("B", None), ("", None)]
)
def test_the_file_may_say_which_eye_it_shows(
    tmp_path: Path, tag: str, letter: str, eye: str | None
) -> None:
    pydicom = pytest.importorskip("pydicom")
    path = _write(tmp_path / "eye.dcm")
    file = pydicom.dcmread(path)
    setattr(file, tag, letter)
    file.save_as(path)
    assert dicom_eye(path) == eye_of(path) == eye
    assert eye_of(path.rename(tmp_path / "IM0001")) == eye


def test_other_files_do_not_say_which_eye_they_show(tmp_path: Path) -> None:
    assert eye_of(tmp_path) is None
    (tmp_path / "broken.dcm").write_bytes(b"no DICOM")
    assert eye_of(tmp_path / "broken.dcm") is None
