"""The four answers."""

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
def test_a_window_gives_the_answer_of_the_moment(now: int, kind: str, sentence: str) -> None:
    answer = phase([WINDOW], now)
    assert (answer.kind, answer.sentence) == (kind, sentence)


def test_without_a_window_nothing_is_scheduled() -> None:
    assert phase([], 0).sentence == "Not scheduled"


def test_a_canceled_window_counts_as_none() -> None:
    assert phase([replace(WINDOW, state="canceled")], 150 * MINUTE).sentence == "Not scheduled"


def test_a_window_that_was_closed_early_has_ended() -> None:
    assert phase([replace(WINDOW, state="closed")], 150 * MINUTE).sentence == "Ended"


def test_what_is_far_away_is_told_in_hours_and_days() -> None:
    far = replace(WINDOW, opens=3 * 24 * 60 * MINUTE + 1, closes=10**12)
    assert phase([far], 0).sentence == "Opens in 3 days"


def test_an_open_window_counts_before_one_to_come() -> None:
    later = replace(WINDOW, id=2, opens=300 * MINUTE, closes=400 * MINUTE)
    assert phase([later, WINDOW], 150 * MINUTE).window == WINDOW


def test_of_two_open_windows_the_one_that_ends_last_counts() -> None:
    longer = replace(WINDOW, id=2, closes=400 * MINUTE)
    assert phase([WINDOW, longer], 150 * MINUTE).window == longer


def test_the_next_window_counts_before_one_that_has_ended() -> None:
    later = replace(WINDOW, id=2, opens=300 * MINUTE, closes=400 * MINUTE)
    assert phase([WINDOW, later], 250 * MINUTE).window == later


def test_it_says_when_the_answer_will_change() -> None:
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
def test_a_cohort_is_those_who_match_every_kind_given(
    cohort: dict[str, list[str]],
    inside: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    assert in_cohort(ADA, cohort) is inside


def test_only_windows_of_ones_own_cohorts_are_open_to_one() -> None:
    other = replace(WINDOW, id=2, cohort={"years": ["Freshman"]})
    assert open_to(ADA, [WINDOW, other]) == [WINDOW]
