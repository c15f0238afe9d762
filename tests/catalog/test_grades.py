"""FAIRSEAT_GRADES: the order of grades."""

import pytest

from portal.catalog import grades
from portal.core.settings import Settings, SettingsError

pytestmark = pytest.mark.usefixtures("connected")


@pytest.mark.parametrize(
    ("one", "other", "best"),
    [
        ("C", "B", "B"),
        ("B", "C", "B"),
        ("", "D", "D"),
        ("D", "", "D"),
        ("F", "D", "D"),
        ("D", "F", "D"),
    ],
)
def test_the_better_grade(one: str, other: str, best: str) -> None:
    assert grades.better(one, other) == best


def test_grades_are_set_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAIRSEAT_GRADES", "10, 9 = MH,8")
    assert Settings.read().grades == (("10",), ("9", "MH"), ("8",))


@pytest.mark.parametrize(
    "text", ["A,B,a", "A,=,B", "A=A", "A,very good", "A,B(1)", "ABCDEFGHI", "A,“B”", "A,B.", "A,or"]
)
def test_grades_that_make_no_sense_are_refused_at_the_start(
    monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.setenv("FAIRSEAT_GRADES", text)
    with pytest.raises(SettingsError, match="FAIRSEAT_GRADES"):
        Settings.read()
