"""Imports of students in sections, read, stored or applied, and who is where then."""

from typing import Any

from flask.testing import FlaskClient
from sqlalchemy import select

from portal.catalog.models import Section
from portal.core.db import transaction
from portal.ledger.types import Outcome
from portal.people.models import Student
from portal.registration import adjustments
from portal.registration.adjustments import Adjustment
from tests.exchange.enrolled import roster, the_term
from tests.exchange.makers import press, sent, store
from tests.exchange.oneroster import School
from tests.exchange.section_changes import having


def begin(boss: FlaskClient, places: str, **seats: Any) -> None:
    """So it is before."""
    press(boss, read(boss, places, **seats), "apply")
    assert who() == places


def read(boss: FlaskClient, places: str, **seats: Any) -> int:
    """Read an import that would seat students so, and return it for review."""
    return sent(boss, having(places, **seats).zip(), layout="oneroster", remove="yes")


def stored(boss: FlaskClient, places: str, **seats: Any) -> int:
    """Return such an import once everything but the seats is stored."""
    import_id = read(boss, places, **seats)
    store(boss, import_id)
    return import_id


def with_a_seat_left(boss: FlaskClient) -> int:
    """Return an import of one enrollment once everything else is stored."""
    import_id = sent(boss, School().seats(1).enroll().zip(), layout="oneroster")
    store(boss, import_id)
    return import_id


def who() -> str:
    """Students with their sections, as `having` takes them."""
    return " ".join(sorted(f"{number[2:]}{crn}" for crn, number in roster()))


def adjust(number: int, key: str | None = None, **change: str) -> None:
    """An admin does something to a student meanwhile, under an idempotency key if one is given."""
    with transaction() as session:
        student = session.scalars(select(Student.id).where(Student.number == f"S-{number}")).one()
        sections = {each.crn: each.id for each in session.scalars(select(Section))}
    named = {what: sections[crn] for what, crn in change.items()}
    past = ("window_unscheduled", "same_course", "drop_limit")
    asked = Adjustment(the_term().id, student, overrides=past, **named)
    said = adjustments.adjust(asked, why="first", by=1, idempotency_key=key, correlation="tests")
    assert said.outcome != Outcome.REFUSED
