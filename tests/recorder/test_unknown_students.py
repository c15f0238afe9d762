"""A journal with students unknown to PostgreSQL, as after an old backup was restored."""

import pytest
from click.testing import CliRunner

from portal.backend import Backend
from portal.core.db import transaction
from portal.people.models import Account, Student
from portal.recorder.consistency import fence
from portal.recorder.consistency.audit import audit_term
from portal.recorder.consistency.restore import Unrecorded, restore
from portal.recorder.recorder import UnknownStudents, drain
from portal.runtime.cli import main
from tests.recorder.ledger_dump import dump
from tests.recorder.processes import caught_up, recorded
from tests.recorder.rush import Rush, a_rush, claim

GONE = 999_999


@pytest.fixture
def rush(backend: Backend) -> Rush:  # noqa: ARG001
    """Give seats to a student unknown to PostgreSQL and to a known one."""
    rush = a_rush(sections=1, students=2, capacity=5)
    drain(rush.term)
    for student in (rush.students[0], GONE, rush.students[1]):
        claim(rush, student, rush.sections[0])
    return rush


def test_recorder_stops_at_unknown_students_and_names_them(rush: Rush) -> None:
    before = recorded(rush.term)
    with pytest.raises(UnknownStudents, match=rf"from event {before + 2} .*\(ids {GONE}\)"):
        drain(rush.term)
    assert recorded(rush.term) == before


def test_rebuild_with_unknown_students_changes_nothing_and_says_what_to_do(rush: Rush) -> None:
    before = dump(rush.term)
    result = CliRunner().invoke(main, ["rebuild", "ledger", "--yes"])
    assert result.exit_code == 1
    assert isinstance(result.exception, SystemExit)
    assert f"(ids {GONE})" in result.output
    assert "tables accounts and students" in result.output
    assert "Nothing was changed" in result.output
    with pytest.raises(Unrecorded):
        restore(rush.term)
    assert dump(rush.term) == before
    assert not fence.why(rush.term)


def test_audit_reports_unknown_students(rush: Rush) -> None:
    report = audit_term(rush.term)
    assert not report["clean"]
    (difference,) = [each for each in report["differences"] if each["where"] == "journal entry"]
    assert str(GONE) in difference["what"]


def test_everything_is_recorded_after_the_students_are_back(rush: Rush) -> None:
    with pytest.raises(UnknownStudents):
        drain(rush.term)
    with transaction() as session:
        back = Account(username="back", name="Back")
        session.add(Student(id=GONE, account=back, number="S-back"))
    drain(rush.term)
    assert caught_up(rush.term)
    assert audit_term(rush.term)["clean"]
