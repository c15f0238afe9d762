"""Several changes of one student: each is done once another has made way for it."""

from typing import Any

import pytest
from flask.testing import FlaskClient
from sqlalchemy import delete

from portal.core.db import transaction
from portal.exchange.importing import runs
from portal.exchange.importing.models import ImportRow
from tests.exchange.imported_enrollments import adjust, begin, read, stored, who
from tests.exchange.makers import latest, page, press

HOURS = {"A": "09:00", "B": "10:00", "X": "10:00", "Y": "11:00"}
OPEN: dict[str, Any] = dict.fromkeys("ABXY", 9)
SWAP = {"A": "09:00", "B": "10:00", "X": "10:00", "Y": "09:00"}


def applied(boss: FlaskClient, before: str, after: str, **seats: Any) -> str:
    """Who is where once an import has been applied that the preview had nothing against."""
    begin(boss, before, **seats)
    import_id = read(boss, after, **seats)
    assert "would be refused" not in page(boss, import_id)
    press(boss, import_id, "apply")
    assert "The import was applied." in page(boss, latest().id)
    return who()


@pytest.mark.parametrize("after", ["1B 1Y", "1Y 1B"])
def test_a_section_may_meet_as_the_one_that_a_later_change_leaves(
    boss: FlaskClient, after: str
) -> None:
    assert applied(boss, "1A 1X", after, **OPEN, meetings=HOURS) == "1B 1Y"


@pytest.mark.parametrize("after", ["1A 1Y", "1Y 1A"])
def test_what_is_added_may_meet_as_the_section_that_a_change_leaves(
    boss: FlaskClient, after: str
) -> None:
    hours = HOURS | {"A": "10:00"}
    assert applied(boss, "1X", after, **OPEN, meetings=hours) == "1A 1Y"


@pytest.mark.parametrize("after", ["1B 1Y", "1Y 1B"])
def test_one_change_may_need_the_credits_that_another_frees(boss: FlaskClient, after: str) -> None:
    credits_ = {"A": 4, "B": 16, "X": 16, "Y": 4}
    assert applied(boss, "1A 1X", after, **OPEN, credits=credits_) == "1B 1Y"


def test_a_ring_stopped_by_a_time_conflict_succeeds_later(boss: FlaskClient) -> None:
    seats = OPEN | {"A": 1, "B": 1}
    assert applied(boss, "1A 1X 2B", "1B 1Y 2A", **seats, meetings=HOURS) == "1B 1Y 2A"


def test_a_move_behind_a_time_conflict_succeeds_later(
    boss: FlaskClient,
) -> None:
    seats = OPEN | {"A": 1, "X": 1}
    assert applied(boss, "1A 1X", "1B 1Y 2A 3X", **seats, meetings=HOURS) == "1B 1Y 2A 3X"


def test_two_courses_of_a_student_may_swap_hours(boss: FlaskClient) -> None:
    assert applied(boss, "1A 1X", "1B 1Y", **OPEN, meetings=SWAP) == "1B 1Y"


def test_two_courses_swap_hours_in_full_sections(boss: FlaskClient) -> None:
    seats: dict[str, Any] = dict.fromkeys("ABXY", 1) | {"meetings": SWAP}
    assert applied(boss, "1A 1X 2B 2Y", "1B 1Y 2A 2X", **seats) == "1B 1Y 2A 2X"


def test_one_hour_can_not_be_had_twice(boss: FlaskClient) -> None:
    meetings = SWAP | {"Y": "10:00"}
    begin(boss, "1A 1X", **OPEN, meetings=meetings)
    import_id = read(boss, "1B 1Y", **OPEN, meetings=meetings)
    shown = page(boss, import_id)
    assert "2 enrollments would be refused" in shown
    assert "The student stays in this section" in shown
    assert "Time conflict" in shown
    press(boss, import_id, "rest")
    assert who() == "1A 1X"


def test_past_the_rules_two_courses_swap_hours(boss: FlaskClient) -> None:
    begin(boss, "1A 1X", **OPEN, meetings=SWAP)
    import_id = read(boss, "1B 1Y", **OPEN, meetings=SWAP)
    press(boss, import_id, "past")
    press(boss, import_id, "apply")
    assert who() == "1B 1Y"


def test_a_move_to_the_hour_of_a_dropped_section_succeeds(boss: FlaskClient) -> None:
    # X is named by the files, as somebody else is in it.
    after = applied(boss, "1A 1X 2X", "1B 2X", **OPEN, meetings=SWAP)
    assert after == "1B 2X"


def test_a_dependent_change_is_refused_for_its_own_reason(boss: FlaskClient) -> None:
    seats = OPEN | {"Y": 1}
    begin(boss, "1A 1X", **seats, meetings=HOURS)
    import_id = stored(boss, "1B 1Y", **seats, meetings=HOURS)
    adjust(2, add="Y")
    runs.continue_import(import_id)
    shown = page(boss, import_id)
    assert "The import was applied, except 2 enrollments" in shown
    assert "Time conflict" in shown
    assert "The student stays in this section" in shown
    assert who() == "1A 1X 2Y"


def test_what_is_left_of_a_change_without_its_addition_is_done_by_itself(boss: FlaskClient) -> None:
    begin(boss, "1A", **OPEN)
    import_id = stored(boss, "1B", **OPEN)
    with transaction() as session:
        session.execute(delete(ImportRow).where(~ImportRow.removes))
    runs.continue_import(import_id)
    assert latest().state == "done"
    assert who() == ""
