"""Files from anywhere: taken as pixels, or refused in a sentence; nothing else happens."""

from pathlib import Path
from urllib.parse import quote

import numpy as np
import pydicom
import pytest
from fastapi.testclient import TestClient
from pydicom.dataset import FileDataset, FileMetaDataset
from pydicom.uid import ExplicitVRLittleEndian, SecondaryCaptureImageStorage

from ssplain.app import create
from ssplain.desk import Room, uploads
from ssplain.desk.session import Session
from tests.app import hostile
from tests.app.conftest import HOME


def files(folder: Path) -> set[Path]:
    return {path for path in folder.rglob("*") if path.is_file()}


@pytest.mark.filterwarnings("ignore:End of file reached")  # pydicom, of the false one
@pytest.mark.parametrize("name", list(hostile.REFUSED))
def test_what_is_no_image_is_refused_in_a_sentence(
    client: TestClient, room: Room, name: str
) -> None:
    before = files(room.sessions.root)
    answer = client.post(f"/api/uploads?name={quote(name)}", content=hostile.REFUSED[name])
    if answer.status_code == 200:  # it can be decoded; then no model can make anything of it
        assert name == "black.png"
        answer = client.get("/api/look", params=answer.json())
        assert "black all over" in answer.json()["message"]
        return
    assert answer.status_code == 400
    message = answer.json()["message"]
    assert message.endswith(".")
    assert "arriving" not in message, "the user knows the file by another name"
    assert str(Path("/tmp")) not in message  # noqa: S108
    assert files(room.sessions.root) == before


@pytest.mark.parametrize("name", list(hostile.TAKEN))
def test_a_name_is_shown_and_never_used(client: TestClient, room: Room, name: str) -> None:
    before = files(room.sessions.root)
    answer = client.post(f"/api/uploads?name={quote(name)}", content=hostile.TAKEN[name])
    assert answer.status_code == 200, answer.text
    (kept,) = files(room.sessions.root) - before
    assert kept.parent.name == "uploads"
    told = client.get("/api/look", params=answer.json()).json()
    assert not {"/", "\\", "\0"} & set(told["title"])
    assert len(told["title"]) <= 80
    stored = kept.read_bytes()
    assert b"script" not in stored
    assert b"PNG" not in stored
    pixels = client.get("/api/pixels", params=answer.json()).content
    assert max(pixels) > 200


def test_a_file_that_is_too_large_is_cut_off(client: TestClient, room: Room) -> None:
    before = files(room.sessions.root)
    told = client.post("/api/uploads", content=hostile.endless(300 * 2**20))
    assert told.status_code == 400
    assert "larger than 64 MB" in told.json()["message"]
    told = client.post("/api/uploads", content=b"", headers={"content-length": "999999999999"})
    assert told.status_code == 400
    assert files(room.sessions.root) == before


def test_uploads_are_counted(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploads, "MOST_FILES", 2)
    codes = [client.post("/api/uploads", content=hostile.picture()).status_code for _ in range(3)]
    assert codes == [200, 200, 400]


def test_an_upload_belongs_to_its_session(room: Room, client: TestClient) -> None:
    name = client.post("/api/uploads", content=hostile.picture()).json()["image"]
    other = TestClient(create(room), base_url=HOME)
    other.get("/")
    for path in ("/api/look", "/api/thumb", "/api/pixels"):
        assert client.get(path, params={"image": name}).status_code == 200
        assert other.get(path, params={"image": name}).status_code == 400


def test_of_a_dicom_file_only_the_pixels_are_kept(
    client: TestClient, room: Room, tmp_path: Path
) -> None:
    meta = FileMetaDataset()
    meta.TransferSyntaxUID = ExplicitVRLittleEndian
    meta.MediaStorageSOPClassUID = SecondaryCaptureImageStorage
    meta.MediaStorageSOPInstanceUID = pydicom.uid.generate_uid()
    scan = FileDataset(str(tmp_path / "x"), {}, file_meta=meta, preamble=bytes(128))
    scan.PatientName, scan.PatientID = "Doe^Jane", "4711-SECRET"
    scan.SOPClassUID = meta.MediaStorageSOPClassUID
    scan.SOPInstanceUID = meta.MediaStorageSOPInstanceUID
    scan.ImageLaterality = "R"
    scan.Rows, scan.Columns, scan.SamplesPerPixel = 28, 28, 1
    scan.PhotometricInterpretation = "MONOCHROME2"
    scan.BitsAllocated = scan.BitsStored = 8
    scan.HighBit, scan.PixelRepresentation = 7, 0
    values = np.zeros((28, 28), np.uint8)
    values[4:20, 12:16] = 200
    scan.PixelData = values.tobytes()
    path = tmp_path / "Doe-Jane.dcm"
    scan.save_as(path, enforce_file_format=True)
    answer = client.post("/api/uploads?name=Doe-Jane.dcm", content=path.read_bytes())
    assert answer.status_code == 200, answer.text
    told = client.get("/api/look", params=answer.json()).json()
    assert told["title"] == "DICOM image"
    pixels = client.get("/api/pixels", params=answer.json()).content
    np.testing.assert_array_equal(np.frombuffer(pixels, np.uint8).reshape(28, 28), values)
    session = Session("0" * 32, tmp_path / "session", 0.0)
    key = uploads.keep(session, path, "Doe-Jane.dcm")
    assert room.sources.picture(f"upload/{key}", session).eye == "right"
    for kept in files(room.sessions.root):
        assert b"Doe" not in kept.read_bytes()
        assert b"4711" not in kept.read_bytes()
