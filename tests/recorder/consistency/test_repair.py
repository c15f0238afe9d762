"""Altered data is explained event by event, and repaired after the plan was shown."""

from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from sqlalchemy import text

from portal.backend import Backend
from portal.core.db import transaction
from portal.ledger.function_library import prefix
from portal.recorder.consistency import repair as mending
from portal.recorder.consistency.audit import audit_term
from portal.recorder.consistency.differences import Difference
from portal.recorder.consistency.partial_audit import explain
from portal.recorder.recorder import drain
from portal.runtime.commands.consistency import audit_command, repair_command
from tests.audit_trail import entries
from tests.cast import a_student
from tests.recorder.blocked_recorder import held_up
from tests.recorder.consistency.tampering import TAMPERINGS, a_term_to_tamper_with
from tests.recorder.ledger_dump import dump
from tests.recorder.processes import recorded
from tests.recorder.rush import Rush, a_rush, adjust, claim, claims, drop, everyone_everywhere

GONE = 999_999  # a student unknown to PostgreSQL
OF_THE_LOG = {each for each in TAMPERINGS if "event" in each and "ledger" not in each}


@pytest.fixture
def rush(backend: Backend) -> Rush:  # noqa: ARG001
    return a_term_to_tamper_with()


def repair(*arguments: str) -> Result:
    return CliRunner().invoke(repair_command, [*arguments])


@pytest.mark.parametrize("tampering", sorted(TAMPERINGS.keys() - OF_THE_LOG))
def test_repair_needs_yes(rush: Rush, tampering: str) -> None:
    before = dump(rush.term)
    TAMPERINGS[tampering][0](rush)
    tampered = dump(rush.term)
    result = repair()
    assert (result.exit_code, dump(rush.term)) == (1, tampered), result.output
    assert "dry run" in result.output
    done = repair("--yes")
    assert done.exit_code == 0, done.output
    assert audit_term(rush.term)["clean"]
    assert dump(rush.term) == before
    assert entries()[-1].action == "record.repaired"


@pytest.mark.parametrize("tampering", sorted(OF_THE_LOG))
def test_lost_events_come_back_only_from_a_backup(
    rush: Rush, tampering: str, tmp_path: Path
) -> None:
    with transaction() as session:
        stored = session.scalars(text("SELECT row_to_json(e)::text FROM events e")).all()
    backup = tmp_path / "events.jsonl"
    backup.write_text("\n".join(stored), encoding="utf-8")
    before = dump(rush.term)
    TAMPERINGS[tampering][0](rush)
    refused = repair("--yes")
    assert refused.exit_code == 1
    assert "backup of PostgreSQL" in refused.output
    assert dump(rush.term) == before
    done = repair("--yes", "--events", str(backup))
    assert done.exit_code == 0, done.output
    assert audit_term(rush.term)["clean"]
    with transaction() as session:
        assert sorted(session.scalars(text("SELECT row_to_json(e)::text FROM events e"))) == sorted(
            stored
        )


def test_repair_lists_and_audits_the_decisions_that_are_lost(backend: Backend) -> None:
    rush = a_rush(sections=1, students=3)
    drain(rush.term)
    known = recorded(rush.term)
    claims(rush, everyone_everywhere(rush))
    backend.redis.xdel(f"{prefix(rush.term)}:journal", f"{known + 1}-0")
    assert "They will be discarded" in " ".join(repair().output.split())
    done = repair("--yes")
    assert done.exit_code == 0, done.output
    [rebuilt] = entries("ledger.rebuilt")
    assert len(rebuilt.after["forgotten"]) == 2


def test_nothing_is_repaired_while_decisions_wait_to_be_recorded(
    rush: Rush, monkeypatch: pytest.MonkeyPatch
) -> None:
    TAMPERINGS["a section has another capacity"][0](rush)
    drop(rush, rush.students[0], rush.sections[1])
    before = dump(rush.term)
    with held_up(rush.term, monkeypatch):
        refused = repair("--yes")
    text = " ".join(refused.output.split())
    assert refused.exit_code == 1
    assert "1 decisions of Fall 2030 are not recorded yet" in text
    assert "Make sure that a recorder runs" in text
    assert dump(rush.term) == before
    assert repair("--yes").exit_code == 0
    assert audit_term(rush.term)["clean"]


def test_unrecordable_events_are_named(rush: Rush) -> None:
    claim(rush, GONE, rush.sections[0])
    refused = repair("--yes")
    assert refused.exit_code == 1
    assert f"(ids {GONE})" in " ".join(refused.output.split())


def test_difference_seen_once_is_left_alone() -> None:
    def difference(where: str, what: str, ledger: int) -> Difference:
        return {"where": where, "what": what, "ledger": ledger, "log": 1}

    first = [difference("ledger seats", "section 1", 2), difference("ledger seats", "section 2", 2)]
    again = [
        difference("ledger seats", "section 2", 3),
        difference("ledger roster", "section 1", 2),
    ]
    assert mending.seen_twice(first, again) == [difference("ledger seats", "section 2", 3)]


def test_repair_does_nothing_without_differences(rush: Rush) -> None:
    before = dump(rush.term)
    result = repair("--yes")
    assert result.exit_code == 0
    assert "no differences" in result.output
    assert dump(rush.term) == before


def test_a_section_is_explained_event_by_event(rush: Rush) -> None:
    TAMPERINGS["a seat was taken from the ledger"][0](rush)
    section, student = rush.sections[0], rush.students[0]
    lines = list(explain(rush.term, "section", section))
    events = [line for line in lines if not line.startswith(("READ", "LEDGER", "DIFFERS"))]
    assert "section_set" in events[0]
    assert f"student {student} enrolled" in events[1]
    assert any(line.startswith("READ     enrollments") for line in lines)
    assert f"LEDGER   seats, section {section}: " in "\n".join(lines)
    assert [line for line in lines if line.startswith("DIFFERS")] == [
        line for line in lines if f"where: ledger roster; what: section {section}" in line
    ]


def test_a_student_is_explained_on_the_command_line(rush: Rush) -> None:
    student = rush.students[0]
    good = CliRunner().invoke(audit_command, ["--explain", f"student:{student}"])
    assert (good.exit_code, "DIFFERS" in good.output) == (0, False), good.output
    assert "enrolled" in good.output
    TAMPERINGS["a student's own key lost a seat"][0](rush)
    bad = CliRunner().invoke(audit_command, ["--explain", f"student:{student}"])
    assert (bad.exit_code, "DIFFERS" in bad.output) == (1, True)
    wrong = CliRunner().invoke(audit_command, ["--explain", "course:1"])
    assert "neither section:NUMBER nor student:NUMBER" in wrong.output


def test_explaining_a_student_leaves_out_students_with_longer_ids(rush: Rush) -> None:
    student = rush.students[0]
    longer = a_student("longer", id=student * 10 + 1).id
    adjust(rush, longer, rush.sections[0])
    drain(rush.term)
    TAMPERINGS["a student's own key lost a seat"][0](replace(rush, students=[longer] * 4))
    assert "DIFFERS" in "\n".join(explain(rush.term, "student", longer))
    assert "DIFFERS" not in "\n".join(explain(rush.term, "student", student))
