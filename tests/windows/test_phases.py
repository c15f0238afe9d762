"""The four phases of windows."""

from dataclasses import replace

import pytest

from portal.ledger.types import WindowView
from portal.people.student_profile import StudentProfile
from portal.windows.cohorts import in_cohort, open_to
from portal.windows.phases import MINUTE, phase

WINDOW = WindowView(1, "Selection", 100 * MINUTE, 200 * MINUTE, "scheduled", {})
ADA = StudentProfile(
    student=1,
    account=1,
    name="Ada",
    number="N1",
    level="Undergraduate",
    year="Senior",
    degree="",
    campus="",
    college="",
    department="",
    majors=frozenset({"CSC"}),
    minors=frozenset({"MTH"}),
)


@pytest.mark.parametrize(
    ("now", "kind", "sentence"),
    [
        (0, "before", "Opens in 100 minutes"),
        (98 * MINUTE + 1, "before", "Opens in 2 minutes"),
        (99 * MINUTE, "before", "Opens in 1 minute"),
        (99 * MINUTE + 1001, "before", "Opens in 59 seconds"),
        (100 * MINUTE - 4000, "before", "Opens in 4 seconds"),
        (100 * MINUTE - 1, "before", "Opens in 1 second"),
        (100 * MINUTE, "open", "Closes in 100 minutes"),
        (200 * MINUTE - 1, "open", "Closes in 1 second"),
        (200 * MINUTE, "ended", "Ended"),
    ],
)
def test_phase_of_a_window_depends_on_the_moment(now: int, kind: str, sentence: str) -> None:
    answer = phase([WINDOW], now)
    assert (answer.kind, answer.sentence) == (kind, sentence)


def test_phase_without_windows_is_not_scheduled() -> None:
    assert phase([], 0).sentence == "Not scheduled"


def test_a_canceled_window_counts_as_none() -> None:
    assert phase([replace(WINDOW, state="canceled")], 150 * MINUTE).sentence == "Not scheduled"


def test_a_window_that_was_closed_early_has_ended() -> None:
    assert phase([replace(WINDOW, state="closed")], 150 * MINUTE).sentence == "Ended"


def test_distant_moments_are_in_hours_and_days() -> None:
    far = replace(WINDOW, opens=3 * 24 * 60 * MINUTE + 1, closes=10**12)
    assert phase([far], 0).sentence == "Opens in 3 days"


def test_open_window_comes_before_an_upcoming_one() -> None:
    later = replace(WINDOW, id=2, opens=300 * MINUTE, closes=400 * MINUTE)
    assert phase([later, WINDOW], 150 * MINUTE).window == WINDOW


def test_last_ending_of_two_open_windows_counts() -> None:
    longer = replace(WINDOW, id=2, closes=400 * MINUTE)
    assert phase([WINDOW, longer], 150 * MINUTE).window == longer


def test_next_window_comes_before_an_ended_one() -> None:
    later = replace(WINDOW, id=2, opens=300 * MINUTE, closes=400 * MINUTE)
    assert phase([WINDOW, later], 250 * MINUTE).window == later


def test_phase_says_when_it_ends() -> None:
    assert phase([WINDOW], 0).turns == WINDOW.opens
    assert phase([WINDOW], WINDOW.opens).turns == WINDOW.closes
    assert phase([WINDOW], WINDOW.closes).turns is None


@pytest.mark.parametrize(
    ("cohort", "inside"),
    [
        ({}, True),
        ({"years": []}, True),
        ({"years": ["Junior", "Senior"]}, True),
        ({"years": ["Junior"]}, False),
        ({"levels": ["Undergraduate"]}, True),
        ({"subjects": ["MTH"]}, True),
        ({"subjects": ["ART"]}, False),
        ({"students": ["N1", "N2"]}, True),
        ({"students": ["N2"]}, False),
        ({"years": ["Senior"], "subjects": ["CSC"]}, True),
        ({"years": ["Senior"], "subjects": ["ART"]}, False),
    ],
)
def test_student_of_a_cohort_matches_every_entry(
    cohort: dict[str, list[str]],
    inside: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    assert in_cohort(ADA, cohort) is inside


def test_only_windows_of_the_students_cohorts_are_open() -> None:
    other = replace(WINDOW, id=2, cohort={"years": ["Freshman"]})
    assert open_to(ADA, [WINDOW, other]) == [WINDOW]
