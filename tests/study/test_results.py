from pathlib import Path

import torch

from ssplain.metrics import Evaluation
from ssplain.study.results import Results, read_results, write_results


def test_values_come_back_as_they_were(tmp_path: Path) -> None:
    values = {"curvature-gain": torch.tensor([0.25, torch.nan]).double()}
    one = Evaluation(values, {"kappa": torch.ones(2, 3)}, torch.ones(3), torch.tensor([2, 7]))
    other = Evaluation({"gini": torch.tensor([0.5, 1.0])}, {}, torch.ones(3), one.labels)
    given = Results("rop", 2, {"all": {"A": one, "B": other}, "maps": {"A": other}})
    write_results(tmp_path, given)
    back = read_results(tmp_path, "rop")
    assert (back.study, back.images) == ("rop", 2)
    assert {group: list(own) for group, own in back.found.items()} == {
        "all": ["A", "B"],
        "maps": ["A"],
    }
    again = back.found["all"]["A"]
    name = "curvature-gain"
    torch.testing.assert_close(again.values[name], values[name], equal_nan=True)
    assert torch.equal(again.labels, one.labels)
    assert str(again.summary(name)) == str(one.summary(name))
