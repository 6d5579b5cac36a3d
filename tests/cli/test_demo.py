from pathlib import Path

from tests.cli.command import run


def test_demo_writes_a_page_and_says_where(tmp_path: Path) -> None:
    done = run("demo", "--out", tmp_path / "demo")
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "demo" / "index.html").read_text()
    assert str(tmp_path / "demo" / "index.html") in done.stdout
    # ten classes of two data sets with five pictures each, three classes with one more
    assert page.count("data:image/png;base64,") == 2 * 10 * 5 + 3 * 6
    assert page.index("planted disease") < page.index("Ankle boot")
    for dataset in ("rop", "mnist", "fmnist"):
        assert (tmp_path / "demo" / "images" / f"{dataset}-0.png").is_file()
