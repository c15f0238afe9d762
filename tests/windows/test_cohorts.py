"""The cohorts of windows."""

import pytest

from portal.backend import Backend
from portal.catalog import cohort_names
from portal.core.db import transaction
from portal.windows import cohorts
from tests.cast import Cast, a_student, a_subject


@pytest.mark.parametrize(
    ("cohort", "words"),
    [
        ({}, "Everyone"),
        ({"years": []}, "Everyone"),
        ({"years": ["Junior", "Senior"]}, "Junior, Senior"),
        (
            {"years": ["Senior"], "subjects": ["CSC"]},
            "Senior; majors and minors in Field of CSC (CSC)",
        ),
        ({"subjects": ["GONE"]}, "majors and minors in GONE"),
        ({"students": ["1", "2", "3", "4", "5"]}, "students 1, 2, 3 and 2 more"),
        ({"students": ["1"] * 1234}, "a list of 1,234 students"),
        ({"years": ["Senior"], "list": {"id": 7, "students": 1}}, "Senior; a list of 1 student"),
    ],
)
def test_cohort_is_described_in_words(cast: Cast, cohort: cohorts.Cohort, words: str) -> None:
    assert cast
    a_subject("CSC")
    assert cohort_names.describe(cohort) == words


def test_matching_students_are_counted(cast: Cast) -> None:
    a_student("eli", majors=("CSC",), year="Senior")
    a_student("fay", majors=("CSC", "MTH"), year="Junior")
    sizes = {
        "everyone": cohorts.Cohort(),
        "seniors": {"years": ["Senior"]},
        "csc": {"subjects": ["CSC", "MTH"]},
        "both": {"years": ["Senior"], "subjects": ["CSC"]},
        "ada": {"students": [cast.ada.number]},
    }
    with transaction() as session:
        found = {name: cohorts.count_students(session, cohort) for name, cohort in sizes.items()}
    assert found == {"everyone": 6, "seniors": 1, "csc": 2, "both": 1, "ada": 1}


def test_choices_come_from_the_students(cast: Cast) -> None:
    a_student("eli", majors=("CSC",), year="Senior")
    for year in ("Sophomore", "Graduate", "Junior", "First year"):
        a_student(year.split()[0].lower(), year=year)
    with transaction() as session:
        offered = cohorts.choices(session)
    assert {kind: list(names) for kind, names in offered.items()} == {
        "years": ["Freshman", "Sophomore", "Junior", "Senior", "Graduate", "First year"],
        "levels": ["Undergraduate"],
        "subjects": ["CSC"],
    }
    assert offered["subjects"]["CSC"] == "Field of CSC (CSC)"
    assert cast.ada


def test_unknown_student_numbers_are_named(cast: Cast, backend: Backend) -> None:
    with transaction() as session:
        assert cohorts.unknown_students(session, [cast.ada.number, "X"]) == ["X"]
    assert backend
