from pathlib import Path

from typer.testing import CliRunner

from ssplain.cli.app import app


def test_demo_writes_a_page_and_says_where(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["demo", "--out", str(tmp_path / "demo")])
    assert done.exit_code == 0, done.output
    page = (tmp_path / "demo" / "index.html").read_text()
    assert str(tmp_path / "demo" / "index.html") in done.output.replace("\n", "")
    # ten classes of two data sets, four pictures each
    assert page.count("data:image/png;base64,") >= 80
    assert "Ankle boot" in page
    assert (tmp_path / "demo" / "images" / "mnist-0.png").is_file()
