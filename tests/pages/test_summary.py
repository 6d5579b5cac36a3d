import re

from ssplain.pages.summary import has_headlines, read_sheet, summary_table

SHEET = read_sheet(
    "explainer,measure,value,low,high\n"
    "A,insertion,0.9001,0.85,0.95\n"
    "A,deletion,0.3,0.2,0.4\n"
    "A,gini,0.5,0.4,0.6\n"
    "B,insertion,0.7,0.6,0.8\n"
    "B,deletion,0.1,0.05,0.2\n"
    "C,insertion,0.9004,0.85,0.95\n"
    "C,deletion,nan,nan,nan\n"
)


def rows() -> dict[str, list[str]]:
    found = re.findall(r"<tr>(<td.*?)</tr>", summary_table(SHEET))
    cells = [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in found]
    return {first: rest for first, *rest in cells}


def test_explainers_stand_against_headline_measures() -> None:
    html = summary_table(SHEET)
    heads = re.findall(r'<th scope="col"[^>]*>([^<]*)</th>', html)
    assert heads == ["explainer", "insertion\u00a0\u2191", "deletion\u00a0\u2193"]
    assert list(rows()) == ["A", "B", "C"]
    assert "0.900" in rows()["A"][0]
    assert "0.850 to 0.950" in rows()["A"][0]
    assert rows()["C"][1] == "\u2013"  # nothing measured


def test_the_best_is_bold_and_so_is_what_is_printed_the_same() -> None:
    best = {name: ['class="best"' in cell for cell in cells] for name, cells in rows().items()}
    assert best == {"A": [True, False], "B": [False, True], "C": [True, False]}


def test_only_an_evaluation_has_headlines() -> None:
    assert has_headlines(SHEET)
    assert not has_headlines(read_sheet("explainer,measure,step,value\nA,insertion,0,1\n"))
    assert not has_headlines(read_sheet("explainer,measure,value,low,high\nA,gini,1,1,1\n"))
    assert not has_headlines(read_sheet(""))


def test_a_sheet_keeps_to_its_columns() -> None:
    assert read_sheet('a,b\n"x,y",2,3\n\n4\n').rows == (("x,y", "2"), ("4", ""))


def test_a_control_is_named_as_such() -> None:
    lines = "".join(f"{name},insertion,1,1,1\n" for name in ("Random", "intensity", "Saliency"))
    html = summary_table(read_sheet(f"explainer,measure,value,low,high\n{lines}"))
    names = re.findall(r'<tr><td class="text">([^<]*)<', html)
    assert names == ["Random (control)", "intensity (control)", "Saliency"]


def test_no_zero_is_negative() -> None:
    html = summary_table(
        read_sheet("explainer,measure,value,low,high\nA,insertion,-0.0002,-0.002,-0.0001\n")
    )
    assert "-0.000" not in html
    assert "-0.002 to 0.000" in html
