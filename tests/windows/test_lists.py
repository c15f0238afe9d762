"""A long list of students is stored separately, and each profile has its lists."""

import pytest

from portal.people import caches
from portal.people.student_profile import profile, read
from portal.windows import cohorts
from portal.windows.cohorts import Cohort, in_cohort
from tests.cast import Cast


@pytest.fixture(autouse=True)
def _of_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Treat two students as many."""
    monkeypatch.setattr(cohorts, "MAX_NAMED", 1)


def of(*numbers: str) -> Cohort:
    return cohorts.with_student_list({"years": ["Freshman"], "students": list(numbers)})


def test_short_list_of_students_is_stored_in_the_cohort(cast: Cast) -> None:
    cohort = {"students": [cast.ada.number]}
    assert cohorts.with_student_list(cohort) == cohort


def test_the_same_students_make_the_same_list(cast: Cast) -> None:
    first, second = of(cast.ada.number, cast.ben.number), of(cast.ben.number, cast.ada.number)
    assert first == second == {"years": ["Freshman"], "list": {**first["list"], "students": 2}}
    assert of(cast.ada.number, cast.cleo.number)["list"]["id"] != first["list"]["id"]


def test_student_on_the_list_is_in_the_cohort(cast: Cast) -> None:
    cohort = of(cast.ada.number, cast.ben.number)
    assert in_cohort(read(cast.ada.id), cohort)
    assert not in_cohort(read(cast.cleo.id), cohort)
    assert not in_cohort(read(cast.ada.id), {**cohort, "years": ["Senior"]})


def test_cached_profile_learns_of_a_new_list(cast: Cast) -> None:
    seen = caches.apply_changes(None)
    assert not profile(cast.ada.id).lists
    cohort = of(cast.ada.number, cast.ben.number)
    caches.apply_changes(seen)
    assert in_cohort(profile(cast.ada.id), cohort)
