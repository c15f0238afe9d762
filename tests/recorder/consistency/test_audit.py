"""Ledger, event log and read models agree; an audit names altered data."""

import json
import subprocess
from dataclasses import replace

import pytest
from click.testing import CliRunner

from portal.backend import Backend, backend
from portal.core.db import transaction
from portal.ledger.types import Candidate, ReserveSpec
from portal.recorder.consistency import audit_runs
from portal.recorder.consistency.audit import audit, audit_term
from portal.recorder.consistency.partial_audit import explain
from portal.recorder.recorder import drain
from portal.runtime.cli import main
from tests import commands
from tests.recorder.blocked_recorder import held_up
from tests.recorder.consistency.tampering import TAMPERINGS, a_term_to_tamper_with
from tests.recorder.random_actions import storm, storming
from tests.recorder.rush import Rush, a_rush, claim, claims, drop, everyone_everywhere, spec


@pytest.fixture
def rush(backend: Backend) -> Rush:  # noqa: ARG001
    """Return three full sections with waitlists; in the first the head was skipped."""
    return a_term_to_tamper_with()


@pytest.mark.parametrize("seed", range(1, 7))
def test_audit_finds_no_difference_after_a_rush(backend: Backend, seed: int) -> None:  # noqa: ARG001
    rush = a_rush(sections=4, students=12, capacity=3, waitlist=4)
    storm(rush, seed)
    report = audit_term(rush.term)
    assert report["differences"] == []
    assert report["clean"]
    assert report["events"] > 100


def test_audit_compares_while_claims_continue(backend: Backend) -> None:  # noqa: ARG001
    rush = a_rush(sections=4, students=12, capacity=3, waitlist=4)
    with storming(rush):
        reports = [audit_term(rush.term) for _ in range(8)]
    assert [report["differences"] for report in reports] == [[]] * 8
    assert reports[0]["events"] < reports[-1]["events"]


def test_student_set_aside_during_the_audit_is_no_difference(backend: Backend) -> None:
    rush = a_rush(sections=1, students=4, capacity=2)
    section, (first, cohort, other, last) = rush.sections[0], rush.students
    result = replace(spec(section, capacity=2, version=2), reserves=(ReserveSpec(1, 1),))
    backend.ledger.put_section(rush.term, result)
    for student, reserves in ((first, ()), (cohort, (1,)), (other, ()), (last, ())):
        claim(rush, student, section, reserves=reserves)
    drop(rush, cohort, section)

    def set_aside(step: str, _done: int, _of: int) -> None:
        if step == "reading":
            candidate = Candidate(other, (rush.window,), 100_000)
            promotion = backend.ledger.promote(rush.term, section, [candidate], "a test")
            assert promotion.aside == (other,)

    assert audit_term(rush.term, set_aside)["differences"] == []


def test_audit_handles_a_whole_semester(backend: Backend) -> None:  # noqa: ARG001
    rush = a_rush(sections=2250, students=400, capacity=30, waitlist=10)
    wishes = [
        (student, rush.sections[(number * 7 + each * 331) % 2250])
        for each in range(1, 7)
        for number, student in enumerate(rush.students)
    ]
    claims(rush, wishes)
    drain(rush.term)
    assert audit_term(rush.term)["clean"]


@pytest.mark.parametrize("tampering", TAMPERINGS)
def test_audit_names_altered_data(rush: Rush, tampering: str) -> None:
    tamper, where = TAMPERINGS[tampering]
    assert audit_term(rush.term)["clean"]
    tamper(rush)
    report = audit_term(rush.term)
    assert not report["clean"]
    assert where in {difference["where"] for difference in report["differences"]}


def test_audit_records_the_journal_first(backend: Backend) -> None:  # noqa: ARG001
    rush = a_rush(sections=1, students=4)
    claims(rush, everyone_everywhere(rush))
    report = audit_term(rush.term)
    assert (report["events"], report["unrecorded"], report["clean"]) == (7, 0, True)


def test_unrecordable_events_are_no_difference(rush: Rush, monkeypatch: pytest.MonkeyPatch) -> None:
    TAMPERINGS["an enrollment was altered"][0](rush)
    drop(rush, rush.students[0], rush.sections[0])
    with held_up(rush.term, monkeypatch):
        report = audit_term(rush.term)
        assert (report["unrecorded"], report["clean"]) == (1, False)
        assert {each["where"] for each in report["differences"]} == {"enrollments"}
        text = "\n".join(explain(rush.term, "student", rush.students[0]))
        assert "UNKNOWN  whether it differs: 1 events" in text
    report = audit_term(rush.term)
    assert report["unrecorded"] == 0
    assert {each["where"] for each in report["differences"]} == {"enrollments"}


def test_audit_names_an_unreadable_journal_entry(rush: Rush) -> None:
    redis, at = backend().redis, f"{{t:{rush.term}}}"
    redis.xadd(f"{at}:journal", {"event": "nonsense"}, id=f"{redis.incr(f'{at}:seq')}-0")
    result = CliRunner().invoke(main, ["audit"])
    assert result.exit_code == 1
    (difference,) = json.loads(result.stdout)["terms"][0]["differences"]
    assert difference["where"] == "journal entry"


def test_command_says_what_it_could_not_compare(
    rush: Rush, monkeypatch: pytest.MonkeyPatch
) -> None:
    drop(rush, rush.students[0], rush.sections[0])
    with held_up(rush.term, monkeypatch):
        result = CliRunner().invoke(main, ["audit"])
    assert result.exit_code == 1
    assert "Fall 2030: 1 events are not recorded yet" in result.stderr
    assert json.loads(result.stdout)["terms"][0]["differences"] == []


def test_audit_by_command_is_shown_on_the_operations_page(rush: Rush) -> None:
    assert CliRunner().invoke(main, ["audit"]).exit_code == 0
    with transaction() as session:
        (stored,) = audit_runs.latest(session, rush.term, 9)
    assert (stored.found, stored.error, stored.events > 0) == (0, "", True)
    assert stored.ended_at


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    return commands.run("audit", *arguments)


def test_command_prints_json_and_fails_if_terms_differ(rush: Rush) -> None:
    good = command()
    assert (good.returncode, json.loads(good.stdout)["clean"]) == (0, True)
    backend().redis.delete(f"{{t:{rush.term}}}:roster:{rush.sections[0]}")
    bad = command("--term", "Fall 2030")
    assert bad.returncode == 1
    (term,) = json.loads(bad.stdout)["terms"]
    assert term["term"] == "Fall 2030"
    assert len([each for each in term["differences"] if each["where"] == "ledger roster"]) == 2


def test_command_refuses_an_unknown_term(rush: Rush) -> None:  # noqa: ARG001
    answer = command("--term", "Spring 1999")
    assert answer.returncode == 2
    assert "Spring 1999" in answer.stderr


def test_audit_compares_every_term(rush: Rush) -> None:  # noqa: ARG001
    report = audit()
    assert report["clean"]
    assert [term["term"] for term in report["terms"]] == ["Fall 2030"]
