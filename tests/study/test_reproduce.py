from ssplain.study import STUDIES, named


def test_all_stands_for_every_study() -> None:
    assert named("all") == list(STUDIES)
    assert named("norms") == ["norms"]
