"""Students are told once, for each lead time, that a window of theirs is about to open."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import text

from portal.backend import Backend
from portal.catalog.models import Term
from portal.core.db import transaction
from portal.core.moments import moment
from portal.ledger.types import WindowView
from portal.notifications import reminders
from portal.notifications.reminders import remind
from portal.recorder.recorder import drain
from tests import cast as builders
from tests.cast import Cast
from tests.notifications.stories import give_addresses, notices, outbox, told

HOUR = 60
DAY = 24 * HOUR


@pytest.fixture
def term(cast: Cast) -> Term:  # noqa: ARG001
    return builders.a_term()


def a_window(term: Term, minutes: float, cohort: Any = None) -> WindowView:
    """One that opens in so many minutes, recorded."""
    window = builders.a_coming_window(term, minutes, cohort)
    drain(term.id, seconds=0)
    return window


def before(window: WindowView, minutes: float) -> datetime:
    """So many minutes before it opens."""
    return moment(window.opens) - timedelta(minutes=minutes)


def leads() -> list[int]:
    return [notice.lead for notice in notices()]


def test_a_day_ahead_and_a_quarter_of_an_hour_ahead(term: Term, cast: Cast) -> None:
    window = a_window(term, 2 * DAY)
    for minutes, expected in ((DAY + 1, []), (DAY - 1, [DAY]), (16, [DAY]), (14, [DAY, 15])):
        remind(term.id, before(window, minutes))
        mine = [each.lead for each in notices() if each.account_id == cast.ada.account_id]
        assert mine == expected
    assert told(cast.ada) == ["window_soon"] * 2


def test_no_one_is_reminded_twice(term: Term, cast: Cast) -> None:
    window = a_window(term, HOUR)
    for _ in range(3):
        remind(term.id, before(window, 10))
    assert told(cast.ada) == ["window_soon"]


def test_a_window_that_is_scheduled_late_has_the_reminders_that_are_left(term: Term) -> None:
    window = a_window(term, HOUR)
    remind(term.id, before(window, 50))
    assert leads() == []
    remind(term.id, before(window, 5))
    assert set(leads()) == {15}


def test_one_that_is_scheduled_at_the_last_minute_has_no_reminder(term: Term) -> None:
    window = a_window(term, 10)
    remind(term.id, before(window, 5))
    assert leads() == []


def test_after_a_long_silence_only_what_is_still_true_is_notified(term: Term) -> None:
    window = a_window(term, 2 * DAY)
    remind(term.id, before(window, 5))
    assert set(leads()) == {15}


def test_once_it_is_open_no_one_is_reminded(term: Term) -> None:
    window = a_window(term, 2 * DAY)
    remind(term.id, before(window, 0))
    assert leads() == []


def test_its_cohort_is_reminded_and_no_one_else(term: Term, cast: Cast) -> None:
    eve = builders.a_student("eve", year="Senior", majors=("CSC",))
    fay = builders.a_student("fay", year="Senior", majors=("MAT",))
    window = a_window(term, HOUR, {"years": ["Senior"], "subjects": ["CSC"]})
    remind(term.id, before(window, 10))
    assert (told(eve), told(fay), told(cast.ada)) == (["window_soon"], [], [])


def test_a_student_who_has_left_is_not_reminded(term: Term, cast: Cast) -> None:
    with transaction() as session:
        gone = {"id": cast.ada.id}
        session.execute(text("UPDATE students SET deleted_at = now() WHERE id = :id"), gone)
    remind(term.id, before(a_window(term, HOUR), 10))
    assert (told(cast.ada), told(cast.ben)) == ([], ["window_soon"])


def test_a_moved_window_has_a_new_reminder(backend: Backend, term: Term, cast: Cast) -> None:
    window = a_window(term, HOUR)
    remind(term.id, before(window, 10))
    later = window.opens + HOUR * 60_000
    backend.ledger.move_window(term.id, window.id, later, later + 60_000, "tests")
    drain(term.id, seconds=0)
    remind(term.id, moment(later) - timedelta(minutes=10))
    mine = [each for each in notices() if each.account_id == cast.ada.account_id]
    assert [each.data["opens"] for each in mine] == [window.opens, later]


def test_a_canceled_window_has_no_reminder(backend: Backend, term: Term) -> None:
    window = a_window(term, HOUR)
    backend.ledger.cancel_window(term.id, window.id, "tests")
    drain(term.id, seconds=0)
    remind(term.id, before(window, 10))
    assert leads() == []


def test_many_are_reminded_a_few_hundred_at_a_time(
    term: Term, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reminders, "AT_ONCE", 3)
    monkeypatch.setattr(reminders, "PAUSE", 0)
    for number in range(8):
        builders.a_student(f"one{number}")
    window = a_window(term, HOUR)
    remind(term.id, before(window, 10), seconds=0.0001)
    assert len(notices()) <= 3
    remind(term.id, before(window, 10))
    assert len(notices()) == len({each.account_id for each in notices()}) == 12


def test_its_mail_is_of_use_until_the_window_opens(term: Term) -> None:
    give_addresses()
    window = a_window(term, HOUR)
    remind(term.id, before(window, 15))
    (until,) = {mail.until - mail.due_at for mail in outbox()}
    assert until == timedelta(minutes=15)
    assert {mail.rank for mail in outbox()} == {1}
