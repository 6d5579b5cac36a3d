from ssplain.study.tables import csv_text, curves_csv
from tests.study.test_pictures import FOUND


def test_numbers_have_a_fixed_format() -> None:
    assert csv_text(["a", "b", "c"], [[1, 1 / 3, "x,y"]]) == 'a,b,c\n1,0.33333,"x,y"\n'


def test_each_step_of_each_curve_is_a_line() -> None:
    lines = curves_csv(FOUND["all"]).splitlines()
    assert lines[0] == "explainer,measure,step,value"
    assert len(lines) == 1 + 2 * 2 * 3
    assert lines[2] == "first,insertion,0.50000,0.20000"
