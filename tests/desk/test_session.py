"""Sessions keep visitors apart and leave nothing behind."""

import pytest

from ssplain.desk.session import Session, Sessions
from ssplain.errors import SSplainError


def furnished(sessions: Sessions, cookie: str | None = None) -> Session:
    """Return a session that keeps something."""
    one = sessions.get(cookie)
    (one.home("uploads") / ("0" * 32)).write_bytes(b"mine")
    return one


def test_what_one_keeps_another_does_not_find() -> None:
    sessions = Sessions()
    one, other = furnished(sessions), sessions.get(None)
    assert one.find("uploads", "0" * 32).read_bytes() == b"mine"
    with pytest.raises(SSplainError, match="another browser"):
        other.find("uploads", "0" * 32)
    sessions.close()
    assert not sessions.root.exists()


@pytest.mark.parametrize("name", ["..", "../x", "", "/etc/passwd", "0" * 31, "A" * 32, "0" * 33])
def test_only_names_of_ours_lead_anywhere(name: str) -> None:
    sessions = Sessions()
    one = furnished(sessions)
    (one.folder / "uploads" / "x").write_bytes(b"")
    with pytest.raises(SSplainError):
        one.find("uploads", name)
    sessions.close()


def test_a_flood_of_visitors_does_not_drive_a_reader_out() -> None:
    sessions = Sessions(most=3)
    reader = furnished(sessions)
    for _ in range(50):
        sessions.get(None)
    assert sessions.find(reader.id) is reader
    assert reader.find("uploads", "0" * 32).exists()
    sessions.close()


def test_an_unused_session_is_deleted() -> None:
    now = [0.0]
    sessions = Sessions(rest=10, clock=lambda: now[0])
    old = furnished(sessions)
    now[0] = 9.0
    young = furnished(sessions)
    now[0] = 12.0
    sessions.get(None)
    assert sessions.find(old.id) is None
    assert not old.folder.exists()
    assert sessions.find(young.id) is young
    sessions.close()
