from pathlib import Path

from ssplain.report.record import Exhibit
from tests.cli.command import run
from tests.pages.folder import write_studies


def test_the_page_is_written_and_the_command_says_where(tmp_path: Path) -> None:
    folder = write_studies(tmp_path / "studies")
    done = run("report", folder)
    assert done.returncode == 0, done.stderr
    assert str(folder / "report.html") in done.stdout
    page = (folder / "report.html").read_bytes()
    assert b"Explainers on digits" in page
    # the page lies in the folder now, and the next one is the same
    run("report", folder, "--out", tmp_path / "elsewhere" / "page.html")
    assert (tmp_path / "elsewhere" / "page.html").read_bytes() == page


def test_a_mistake_gives_one_sentence(tmp_path: Path) -> None:
    folder = write_studies(tmp_path / "studies", figures=(Exhibit("../x.png", ""),))
    job = tmp_path / "job"
    job.mkdir()
    (job / "index.sqlite").touch()
    for wrong, said in (
        (tmp_path / "nowhere", "no finished study"),
        (folder, "'../x.png'"),
        (job, "is a job, not a folder of studies"),
    ):
        done = run("report", wrong)
        assert done.returncode == 2
        assert said in done.stderr
        assert done.stderr.count("\n") == 1
    assert not (folder / "report.html").exists()
