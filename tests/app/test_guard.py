"""Who gets in."""

import base64
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from ssplain.app import create
from ssplain.app.guard import MOST_BODY, users_for
from ssplain.desk import Room
from ssplain.errors import SSplainError
from tests.app.conftest import HOME


@pytest.fixture(scope="module")
def room() -> Room:
    return Room.furnish(["lenet5-mnist"])


def test_another_name_for_this_machine_is_refused(room: Room) -> None:
    client = TestClient(create(room), base_url=HOME)
    assert client.get("/api/room").status_code == 200
    for host in ("evil.example", "127.0.0.1.evil.example", "", "[::1", "localhost@evil.example"):
        assert client.get("/api/room", headers={"host": host}).status_code == 421, host


def test_another_page_cannot_change_anything(room: Room) -> None:
    client = TestClient(create(room), base_url=HOME)
    client.get("/")
    body = {"image": "mnist/0", "model": "lenet5-mnist", "mask": ""}
    for origin in ("http://evil.example", "null", "http://127.0.0.1:1"):
        answer = client.post("/api/ask", json=body, headers={"origin": origin})
        assert answer.status_code == 403, origin
    assert client.post("/api/ask", json=body, headers={"origin": HOME}).status_code == 400


def test_users_must_sign_in(room: Room) -> None:
    client = TestClient(create(room, (), {"ada": "long secret"}), base_url="http://room.example")
    refused = client.get("/")
    assert refused.status_code == 401
    assert refused.headers["www-authenticate"].startswith("Basic")
    for name, password in (("ada", "wrong"), ("bob", "long secret"), ("", ""), ("ada", "")):
        code = base64.b64encode(f"{name}:{password}".encode()).decode()
        assert client.get("/", headers={"authorization": f"Basic {code}"}).status_code == 401
    for header in ("Basic", "Basic ä", "Basic ====", "Bearer x", "Basic /w=="):
        sent = {"authorization": header.encode("latin-1")}
        assert client.get("/", headers=sent).status_code == 401  # type: ignore[arg-type]
    assert client.get("/", auth=("ada", "long secret")).status_code == 200


def test_a_room_for_others_needs_users(tmp_path: Path) -> None:
    for host in ("0.0.0.0", "192.168.1.5", "::", "room.example"):  # noqa: S104 - what is refused
        with pytest.raises(SSplainError, match="needs users"):
            users_for(host, None, {})
    file = tmp_path / "users"
    file.write_text("ada:long secret\n\nbob:with:colons\n")
    with pytest.raises(SSplainError, match="chmod 600"):
        users_for("0.0.0.0", file, {})  # noqa: S104
    file.chmod(0o600)
    assert users_for("0.0.0.0", file, {}) == {  # noqa: S104
        "ada": "long secret",
        "bob": "with:colons",
    }
    file.write_text("ada:short\n")
    with pytest.raises(SSplainError, match="8 letters"):
        users_for("127.0.0.1", file, {})
    file.write_text("")
    with pytest.raises(SSplainError, match="needs users"):
        users_for("127.0.0.1", file, {})
    with pytest.raises(SSplainError, match="cannot be read"):
        users_for("127.0.0.1", tmp_path / "none", {})


def test_a_request_that_is_too_long_is_cut_off(room: Room) -> None:
    client = TestClient(create(room), base_url=HOME)
    client.get("/")
    answer = client.post("/api/ask", content=b"x" * (MOST_BODY + 1))
    assert answer.status_code in {400, 422}
    assert "message" in answer.json()


def test_answers_forbid_the_browser_everything_from_elsewhere(room: Room) -> None:
    client = TestClient(create(room), base_url=HOME)
    for path in ("/", "/api/room", "/static/main.js", "/nowhere"):
        headers = client.get(path).headers
        assert "default-src 'none'" in headers["content-security-policy"], path
        assert headers["x-content-type-options"] == "nosniff"
    cookie = client.get("/").headers.get("set-cookie") or str(client.cookies.jar)
    assert "ssplain-room" in cookie
