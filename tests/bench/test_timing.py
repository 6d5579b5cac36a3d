from ssplain.bench.timing import in_turn


def test_two_things_are_timed_in_turn() -> None:
    calls: list[str] = []
    in_turn(lambda: calls.append("a"), lambda: calls.append("b"), repeats=2)
    assert calls == ["a", "b"] * 3
