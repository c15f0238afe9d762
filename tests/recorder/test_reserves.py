"""Reserves come from the catalog, are given to their cohort, and are audited."""

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import update
from sqlalchemy.sql import func

from portal.backend import Backend
from portal.catalog.models import Reserve, Section, Term
from portal.catalog.term_catalog import catalog_of
from portal.core.db import transaction
from portal.ledger.types import Outcome
from portal.recorder.consistency.audit import audit_term
from portal.recorder.promotion import promote
from portal.recorder.recorder import drain
from portal.windows.warmup import warm_up
from tests import cast as builders
from tests import register
from tests.cast import Cast


@pytest.fixture
def section(cast: Cast) -> Any:
    """Return a section of two seats, one of them reserved for Ada and Ben."""
    term = builders.a_term()
    builders.an_open_window(term)
    made = builders.a_section(builders.a_course(), term, capacity=2)
    cohort = {"students": [cast.ada.number, cast.ben.number]}
    with transaction() as session:
        later = func.now() + timedelta(days=1)
        session.add(Reserve(section_id=made.id, seats=1, cohort=cohort, until=later))
        newer = update(Section).where(Section.id == made.id).values(version=Section.version + 1)
        session.execute(newer)
        session.execute(update(Term).values(catalog_version=Term.catalog_version + 1))
    assert warm_up(term.id) == 1
    return made


def claim(student: Any, section: Any) -> Outcome:
    return register.claim(student.id, section.term_id, section.id, wait=True).outcome


def drop(student: Any, section: Any) -> None:
    register.drop(student.id, section.term_id, section.id)


def clean(section: Any) -> None:
    drain(section.term_id, seconds=0)
    report = audit_term(section.term_id)
    assert report["clean"], report["differences"]


def test_submission_knows_the_students_reserves(backend: Backend, section: Any, cast: Cast) -> None:
    (stored,) = catalog_of(section.term_id).sections[0].reserves
    assert (stored.seats, stored.until is not None) == (1, True)
    assert claim(cast.cleo, section) == Outcome.ENROLLED
    assert claim(cast.dan, section) == Outcome.WAITLISTED
    clean(section)
    assert claim(cast.ada, section) == Outcome.ENROLLED
    assert backend.ledger.reserved(section.term_id, section.id) == {stored.id: 1}
    clean(section)


def test_promoter_gives_a_reserved_seat_to_its_cohort(
    backend: Backend, section: Any, cast: Cast
) -> None:
    for student in (cast.cleo, cast.ada, cast.dan, cast.ben):
        claim(student, section)
    drop(cast.ada, section)
    clean(section)
    assert promote(section.term_id, "tests") == 1
    held = backend.ledger.registrations(section.term_id, cast.ben.id).enrolled
    assert [each.section for each in held] == [section.id]
    assert promote(section.term_id, "tests") == 0
    clean(section)
    drop(cast.cleo, section)
    assert promote(section.term_id, "tests") == 1
    clean(section)


def test_audit_names_an_altered_reserve(backend: Backend, section: Any, cast: Cast) -> None:
    claim(cast.ada, section)
    clean(section)
    [reserve] = backend.ledger.reserved(section.term_id, section.id)
    key = f"{{t:{section.term_id}}}:reserved:{section.id}"
    backend.redis.hincrby(key, str(reserve), 1)
    found = audit_term(section.term_id)["differences"]
    assert [each["where"] for each in found] == ["ledger reserved"]
