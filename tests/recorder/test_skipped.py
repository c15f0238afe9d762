"""Skipped students get another chance once the reason is gone, and no sooner."""

from datetime import datetime, timedelta

import pytest
from sqlalchemy import update

from portal.backend import Backend, backend
from portal.core.audit_trail import add_audit_entry
from portal.core.db import transaction
from portal.core.moments import moment
from portal.people import permissions
from portal.people.models import Hold
from portal.people.permissions import NewPermission
from portal.recorder.promotion import SKEW, promote, retriable, retry
from portal.recorder.recorder import drain
from portal.recorder.sweep import Sweeper
from tests.recorder.rush import Rush, a_rush, claim, drop
from tests.statements import looked_up

LONG = timedelta(days=30)


@pytest.fixture
def barred(backend: Backend) -> Rush:  # noqa: ARG001
    """Free a seat whose only waiting student was skipped because of a hold."""
    rush = a_rush(sections=1, students=3, capacity=1)
    first, second, _ = rush.students
    for student in (first, second):
        claim(rush, student, rush.sections[0])
    a_hold(second, ends_at=now() + LONG)
    drop(rush, first, rush.sections[0])
    ask(rush)
    assert waits(rush)
    return rush


def a_hold(student: int, ends_at: datetime) -> None:
    with transaction() as session:
        hold = Hold(student_id=student, kind="financial", reason="Fee", ends_at=ends_at)
        session.add(hold)


def end_holds(at: datetime) -> None:
    with transaction() as session:
        session.execute(update(Hold).values(ends_at=at))


def now() -> datetime:
    return moment(backend().ledger.now())


def ask(rush: Rush) -> None:
    """Promote and record."""
    promote(rush.term, "tests")
    drain(rush.term, seconds=0)


def waits(rush: Rush) -> bool:
    return bool(backend().ledger.registrations(rush.term, rush.students[1]).waiting)


def test_ended_hold_gives_a_skipped_student_the_free_seat(barred: Rush) -> None:
    end_holds(now())
    [chance] = looked_up(retriable, now() + SKEW)
    assert (chance.section, chance.student) == (barred.sections[0], barred.students[1])
    retry(chance)
    ask(barred)
    assert not waits(barred)
    assert looked_up(retriable, now() + SKEW) == []


def test_skipped_student_is_not_retried_while_the_hold_lasts(barred: Rush) -> None:
    assert waits(barred)
    assert looked_up(retriable, now() + LONG - timedelta(minutes=1)) == []


def test_skipped_student_is_retried_once_the_hold_has_ended_by_every_clock(barred: Rush) -> None:
    ends = now()
    end_holds(ends)
    assert looked_up(retriable, ends + SKEW - timedelta(milliseconds=1)) == []
    assert [each.student for each in looked_up(retriable, ends + SKEW)] == [barred.students[1]]


def test_student_with_another_hold_is_skipped_once_more(barred: Rush) -> None:
    end_holds(now() - SKEW)
    a_hold(barred.students[1], ends_at=now() + LONG)
    [chance] = looked_up(retriable, now())
    retry(chance)
    ask(barred)
    assert waits(barred)
    assert looked_up(retriable, now()) == []


def test_hold_lifted_elsewhere_gives_another_chance(barred: Rush) -> None:
    with transaction() as session:
        session.execute(update(Hold).values(lifted_at=now()))
    assert [each.student for each in looked_up(retriable, now())] == [barred.students[1]]


def test_permission_from_the_command_line_gives_another_chance(barred: Rush) -> None:
    wanted = NewPermission(barred.students[1], barred.sections[0], ["prerequisite"], "Fine.")
    with transaction() as session:
        permissions.grant(session, wanted)
    assert len(looked_up(retriable, now())) == 1


def edit(rush: Rush, **after: str) -> None:
    """Say in the audit trail that a section was edited, as the page of a section does."""
    before = {"prerequisites": "MAT-1", "restrictions": "", "title": "Algebra"}
    about = f"term:{rush.term} section:{rush.sections[0]}"
    with transaction() as session:
        add_audit_entry(session, "section.edit", about, before=before, after=before | after)


def test_changed_rules_of_the_section_give_another_chance(barred: Rush) -> None:
    edit(barred, title="Linear algebra")
    assert looked_up(retriable, now()) == []
    edit(barred, prerequisites="")
    assert [each.student for each in looked_up(retriable, now())] == [barred.students[1]]


def test_scheduler_retries_skipped_students(barred: Rush) -> None:
    end_holds(now() - SKEW)
    sweeper = Sweeper()
    sweeper.read_terms()
    sweeper.enqueue_due()
    ask(barred)
    assert not waits(barred)
