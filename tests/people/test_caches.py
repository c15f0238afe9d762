"""What a process knows of a student stays until it changes, and no longer."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from time import monotonic
from typing import Any

import pytest
from sqlalchemy import Connection, create_engine, text
from sqlalchemy.exc import OperationalError

from portal.backend import Backend
from portal.core.db import transaction, with_driver
from portal.people import caches, student_profile, visitors
from portal.people.models import Account, CompletedCourse
from portal.people.student_profile import StudentProfile
from tests import cast as builders
from tests import register
from tests.cast import Cast
from tests.recorder.processes import wait_for
from tests.registration.database_outage import settled
from tests.statements import statements

HOLD = text("INSERT INTO holds (student_id, kind, reason, office) VALUES (:who, 'x', 'y', 'z')")


@pytest.fixture
def others(backend: Backend) -> Iterator[Callable[[], Connection]]:
    """Connections of other processes, each in a transaction of its own."""
    engine = create_engine(with_driver(backend.settings.database_url))
    opened: list[Connection] = []

    def connection() -> Connection:
        opened.append(engine.connect())
        return opened[-1]

    yield connection
    for each in opened:
        each.close()
    engine.dispose()


def known(*students: Any) -> list[StudentProfile]:
    return [student_profile.profile(student.id) for student in students]


def holds(*students: Any) -> list[int]:
    return [len(each.holds) for each in known(*students)]


def claim(student: Any, section: Any) -> Any:
    return register.claim(student.id, section.term_id, section.id)


def test_a_claim_of_a_known_student_asks_nothing_of_postgresql_about_rules(cast: Cast) -> None:
    term = builders.a_term()
    builders.an_open_window(term)
    section = builders.a_section(builders.a_course(), term, capacity=9)
    known(cast.ada)
    with statements() as sent:
        assert claim(cast.ada, section).registration
    tables = ("students", "holds", "completed_courses", "overrides", "accounts")
    assert not [each for each in sent if any(f"FROM {table}" in each for table in tables)]


def test_a_thousand_questions_cost_one_look_every_two_seconds(cast: Cast) -> None:
    known(cast.ada, cast.ben)
    began = monotonic()
    with statements() as sent:
        for _ in range(1000):
            known(cast.ada, cast.ben)
    assert len(sent) <= 1 + (monotonic() - began) / caches.FRESH_SECONDS


def test_a_hold_that_another_process_places_is_seen_within_seconds(
    cast: Cast, others: Callable[[], Connection]
) -> None:
    assert holds(cast.ada, cast.ben) == [0, 0]
    elsewhere = others()
    elsewhere.execute(HOLD, {"who": cast.ada.id})
    elsewhere.commit()
    wait_for(lambda: holds(cast.ada, cast.ben) == [1, 0])


def test_holds_of_transactions_that_commit_out_of_order_are_all_seen(
    cast: Cast, others: Callable[[], Connection]
) -> None:
    seen = caches.apply_changes(None)
    assert holds(cast.ada, cast.ben, cast.cleo) == [0, 0, 0]
    first, second, third = others(), others(), others()
    for connection, student in ((first, cast.ada), (second, cast.ben), (third, cast.cleo)):
        connection.execute(HOLD, {"who": student.id})
    second.commit()
    seen = caches.apply_changes(seen)
    assert holds(cast.ada, cast.ben, cast.cleo) == [0, 1, 0]
    third.commit()
    seen = caches.apply_changes(seen)
    assert holds(cast.ada, cast.ben, cast.cleo) == [0, 1, 1]
    first.commit()
    caches.apply_changes(seen)
    assert holds(cast.ada, cast.ben, cast.cleo) == [1, 1, 1]


def test_what_is_logged_once_is_not_logged_again(cast: Cast) -> None:
    seen = caches.apply_changes(None)
    with transaction() as session:
        session.execute(HOLD, {"who": cast.ada.id})
    seen = caches.apply_changes(seen)
    known(cast.ada)
    caches.apply_changes(seen)
    with statements() as sent:
        known(cast.ada)
    assert not [each for each in sent if "FROM students" in each]


CHANGES = {
    "a name": "UPDATE accounts SET name = 'Eva' WHERE username = 'eve'",
    "a class year": "UPDATE students SET year = 'Senior' WHERE id = :eve",
    "a limit": "UPDATE students SET credit_limit = 12 WHERE id = :eve",
    "a minor": "INSERT INTO student_subjects SELECT :eve, id, 'minor' FROM subjects",
    "no major": "DELETE FROM student_subjects",
    "a subject's name": "UPDATE subjects SET name = 'Computing'",
    "a department's name": "UPDATE departments SET name = 'Science'",
    "a passed course": "INSERT INTO completed_courses VALUES (:eve, 'CSC-2', '', '', 4)",
    "no passed course": "DELETE FROM completed_courses",
    "another's course": "UPDATE completed_courses SET student_id = :ada",
    "a lifted hold": "UPDATE holds SET lifted_at = now()",
    "no hold": "DELETE FROM holds",
    "an override": "INSERT INTO permissions (student_id, section_id, waives, reason)"
    " SELECT :eve, id, '{prerequisite}', 'x' FROM sections",
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_changes_is_seen(cast: Cast, change: str) -> None:
    department = builders.a_department()
    eve = builders.a_student("eve", majors=("CSC",), department_id=department.id)
    builders.a_section(builders.a_course(), builders.a_term())
    with transaction() as session:
        session.add(CompletedCourse(student_id=eve.id, course_code="CSC-1"))
        session.execute(HOLD, {"who": eve.id})
    seen = caches.apply_changes(None)
    (before,) = known(eve)
    with transaction() as session:
        session.execute(text(CHANGES[change]), {"eve": eve.id, "ada": cast.ada.id})
    caches.apply_changes(seen)
    (after,) = known(eve)
    assert after != before
    assert after == student_profile.read(eve.id)


def test_who_is_deleted_has_no_profile(cast: Cast) -> None:
    seen = caches.apply_changes(None)
    known(cast.ada)
    with transaction() as session:
        session.execute(text("UPDATE students SET deleted_at = now()"))
    caches.apply_changes(seen)
    with pytest.raises(LookupError):
        known(cast.ada)


def test_known_students_stay_known_while_the_database_is_away(
    cast: Cast, without_database: Callable[[], None]
) -> None:
    before = known(cast.ada)
    without_database()
    assert known(cast.ada) == before
    with pytest.raises(OperationalError):
        known(cast.ben)


@pytest.mark.parametrize("late", [timedelta(hours=13), timedelta(days=40)])
def test_who_has_not_looked_for_long_forgets_everything(cast: Cast, late: timedelta) -> None:
    seen = caches.apply_changes(None)
    known(cast.ada)
    with transaction() as session:
        session.execute(HOLD, {"who": cast.ada.id})
        session.execute(text("DELETE FROM people_changes"))
    caches.apply_changes(replace(seen, at=seen.at - late))
    assert holds(cast.ada) == [1]


def test_in_a_database_that_was_set_back_everything_is_forgotten(cast: Cast) -> None:
    seen = caches.apply_changes(None)
    known(cast.ada)
    with transaction() as session:
        session.execute(HOLD, {"who": cast.ada.id})
    later = seen.newest + 1_000_000
    caches.apply_changes(replace(seen, snapshot=f"{later}:{later}:"))
    assert holds(cast.ada) == [1]


def test_old_changes_are_cleared_away(cast: Cast) -> None:
    with transaction() as session:
        session.execute(text("UPDATE people_changes SET at = now() - interval '2 days'"))
        session.execute(HOLD, {"who": cast.ada.id})
    settled()
    with transaction() as session:
        left = session.execute(text("SELECT kind, id FROM people_changes")).all()
    assert left == [("student", cast.ada.id)]


def test_all_students_can_be_read_ahead(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(caches, "BATCH", 3)
    settled()
    student_profile.preload()
    everyone = (cast.ada, cast.ben, cast.cleo, cast.dan)
    with statements() as sent:
        found = known(*everyone)
    assert not [each for each in sent if "FROM students" in each]
    assert found == [student_profile.read(student.id) for student in everyone]


def test_the_accounts_of_all_students_can_be_read_ahead(cast: Cast) -> None:
    settled()
    visitors.preload()
    with statements() as sent:
        found = [visitors.find(each.account_id) for each in (cast.ada, cast.ben)]
    assert not [each for each in sent if "FROM accounts" in each]
    assert found == [visitors.read(Account.id == each.account_id) for each in (cast.ada, cast.ben)]
