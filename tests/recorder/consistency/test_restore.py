"""A ledger that lost data is restored from the event log, and decides as before."""

from typing import Any

import pytest
from click.testing import CliRunner
from sqlalchemy import text

from portal.backend import Backend, backend
from portal.core.db import transaction
from portal.ledger.errors import LedgerUnavailable
from portal.ledger.function_library import prefix
from portal.ledger.types import Candidate, Decision, Outcome, Reason, RequestContext, SkipRule
from portal.recorder import journal
from portal.recorder.consistency import fence
from portal.recorder.consistency.repair import LogDamaged
from portal.recorder.consistency.restore import Unrecorded, plan, restore
from portal.recorder.recorder import drain
from portal.runtime.commands.consistency import rebuild_command
from tests import commands
from tests.audit_trail import entries
from tests.cast import a_course, a_section, a_term, an_open_window
from tests.owner_role import as_owner
from tests.recorder.consistency.tampering import TAMPERINGS
from tests.recorder.ledger_dump import dump
from tests.recorder.processes import recorded
from tests.recorder.random_actions import storm
from tests.recorder.rush import Rush, a_rush, claim, claims, drop, everyone_everywhere, spec


@pytest.fixture
def rush(backend: Backend) -> Rush:  # noqa: ARG001
    """Return three full sections with waitlists, all recorded."""
    rush = a_rush(sections=3, students=4, capacity=2, waitlist=2)
    claims(rush, everyone_everywhere(rush))
    drain(rush.term)
    return rush


def lose(rush: Rush) -> None:
    """Delete everything that the ledger knows of the term."""
    for name in backend().redis.scan_iter(match=f"{prefix(rush.term)}:*"):
        backend().redis.delete(name)


@pytest.mark.parametrize("seed", range(1, 5))
def test_restored_ledger_equals_the_lost_one(backend: Backend, seed: int) -> None:
    rush = a_rush(sections=4, students=12, capacity=3, waitlist=4)
    storm(rush, seed)
    backend.ledger.turn(rush.term)
    drain(rush.term)
    before = dump(rush.term)
    lose(rush)
    assert restore(rush.term).report["clean"]
    assert dump(rush.term) == before


@pytest.mark.parametrize("seed", range(11, 13))
def test_restored_ledger_decides_like_the_lost_one(backend: Backend, seed: int) -> None:
    rush = a_rush(sections=4, students=12, capacity=3, waitlist=4)
    storm(rush, seed, 200)
    backend.ledger.turn(rush.term)
    drain(rush.term)
    twin = _twin(rush)
    lose(rush)
    restore(rush.term)
    for section in rush.sections:
        # Students checked for a reserved seat are checked again, so the twin does that too.
        backend.redis.delete(f"{prefix(twin)}:aside:{section}")
        backend.ledger.promote(twin, section, [], "a test")
        assert backend.ledger.head(rush.term, section, 9) == backend.ledger.head(twin, section, 9)
        candidates = [
            Candidate(head, (rush.window,), 100_000, reserves=(1,))
            for head in backend.ledger.head(rush.term, section, 9)
        ]
        result = [
            backend.ledger.promote(term, section, candidates, "a test")
            for term in (rush.term, twin)
        ]
        assert result[0].promoted == result[1].promoted
    for student in rush.students:
        for section in rush.sections:
            answers = [_asked(term, rush, student, section) for term in (rush.term, twin)]
            assert answers[0] == answers[1]


def _twin(rush: Rush) -> int:
    """Return a copy of the ledger that loses nothing."""
    twin, redis = rush.term + 1_000_000, backend().redis
    for name in redis.scan_iter(match=f"{prefix(rush.term)}:*"):
        redis.copy(name, name.decode().replace(prefix(rush.term), prefix(twin)))
    return twin


def _asked(term: int, rush: Rush, student: int, section: int) -> tuple[Any, ...]:
    answer = claim(Rush(term, (), (), rush.window), student, section)
    return answer.outcome, answer.position, answer.reasons, answer.seats, answer.seq


def test_stored_answers_survive_a_restore(rush: Rush) -> None:
    def asked() -> Decision:
        context = RequestContext(rush.term, rush.students[0], "a", "b", "the-drop")
        days, windows = [(0, "2030-01-01")], [rush.window]
        return backend().ledger.drop(
            context, rush.sections[0], windows=windows, days=days, drop_limit=9
        )

    first = asked()
    drain(rush.term)
    lose(rush)
    restore(rush.term)
    again = asked()
    assert again.replayed
    assert (again.outcome, again.seq, again.seats) == (Outcome.DROPPED, first.seq, first.seats)


def test_stored_refusals_survive_a_restore(rush: Rush) -> None:
    context = RequestContext(rush.term, rush.students[0], "a", "b", "the-leave")
    first = backend().ledger.leave(context, rush.sections[0])
    assert first.outcome == Outcome.REFUSED
    drain(rush.term)
    lose(rush)
    restore(rush.term)
    again = backend().ledger.leave(context, rush.sections[0])
    assert (again.outcome, again.seq, again.replayed) == (Outcome.REFUSED, first.seq, True)


def test_drop_counts_survive_a_restore(rush: Rush) -> None:
    drop(rush, rush.students[0], rush.sections[0])
    drop(rush, rush.students[0], rush.sections[1])
    drain(rush.term)
    lose(rush)
    restore(rush.term)
    assert backend().ledger.drops(rush.term, rush.students[0]) == {"2030-01-01": 2}


def test_skip_counts_survive_a_restore(rush: Rush) -> None:
    section, head = rush.sections[0], rush.students[2]
    hold = Candidate(head, (rush.window,), 100_000, rules=(Reason("hold"),))
    drop(rush, rush.students[0], section)
    backend().ledger.promote(rush.term, section, [hold], "a test", SkipRule(2))
    drain(rush.term)
    lose(rush)
    restore(rush.term)
    backend().ledger.reconsider(rush.term, section, head)
    backend().ledger.promote(rush.term, section, [hold], "a test", SkipRule(2))
    waiting = backend().ledger.registrations(rush.term, head).waiting
    assert section not in {each.section for each in waiting}


def test_fenced_term_decides_nothing_and_says_so(rush: Rush) -> None:
    fence.put_up(rush.term, "a test")
    with pytest.raises(LedgerUnavailable, match="being restored"):
        drop(rush, rush.students[0], rush.sections[0])
    with pytest.raises(LedgerUnavailable, match="being restored"):
        backend().ledger.registrations(rush.term, rush.students[0])
    with pytest.raises(LedgerUnavailable, match="being restored"):
        backend().ledger.put_section(rush.term, spec(rush.sections[0], version=9))
    fence.replace(rush.term, "a test").release()
    assert drop(rush, rush.students[0], rush.sections[0]).outcome == Outcome.DROPPED


def test_fence_changed_by_another_process_stops_a_restore(rush: Rush) -> None:
    def lost(step: str, _done: int, _all: int) -> None:
        if step == "writing":
            backend().redis.delete(fence.key(rush.term))

    lose(rush)
    with pytest.raises(fence.Changed):
        restore(rush.term, lost)
    assert journal.last_seq(rush.term) == 0
    assert restore(rush.term).report["clean"]


@pytest.mark.parametrize("moment", ["replaying", "comparing"])
def test_ledger_changed_during_a_restore_stays_fenced(rush: Rush, moment: str) -> None:
    heard = set()

    def changed(step: str, _done: int, _all: int) -> None:
        heard.add(step)
        if step == moment and (moment == "replaying" or "reading" in heard):
            backend().redis.incr(f"{prefix(rush.term)}:seq")

    before = dump(rush.term)
    with pytest.raises(fence.Changed):
        restore(rush.term, changed)
    assert fence.why(rush.term)
    backend().redis.set(f"{prefix(rush.term)}:seq", recorded(rush.term))
    assert dump(rush.term) == before
    restore(rush.term)
    assert not fence.why(rush.term)


def test_decisions_of_a_stale_ledger_are_listed_before_they_are_lost(rush: Rush) -> None:
    stale = _twin(rush)
    drop(rush, rush.students[0], rush.sections[0])
    drop(rush, rush.students[1], rush.sections[0])
    drain(rush.term)
    lose(rush)
    for name in backend().redis.scan_iter(match=f"{prefix(stale)}:*"):
        backend().redis.rename(name, name.decode().replace(prefix(stale), prefix(rush.term)))
    given = drop(rush, rush.students[0], rush.sections[1])
    assert [(fact.seq, fact.name) for fact in plan(rush.term).lost] == [(given.seq, "dropped")]
    restored = restore(rush.term)
    assert [fact.payload["section"] for fact in restored.lost] == [rush.sections[1]]
    held = backend().ledger.registrations(rush.term, rush.students[0]).enrolled
    assert {each.section for each in held} == {rush.sections[1], rush.sections[2]}


def test_unreadable_events_are_not_lost(rush: Rush) -> None:
    redis, at = backend().redis, prefix(rush.term)
    seq = redis.incr(f"{at}:seq")
    event = f'{{"seq":{seq},"at":1,"name":"new","version":7,"aggregate":"section:1"}}'
    redis.xadd(f"{at}:journal", {"event": event}, id=f"{seq}-0")
    before = dump(rush.term)
    with pytest.raises(Unrecorded, match="new version 7"):
        restore(rush.term)
    assert dump(rush.term) == before
    assert not fence.why(rush.term)


def test_damaged_log_changes_nothing(rush: Rush) -> None:
    with as_owner() as session:
        session.execute(text("SET LOCAL session_replication_role = replica"))
        session.execute(text("DELETE FROM events WHERE seq = 5"))
    before = dump(rush.term)
    with pytest.raises(LogDamaged, match="event 5: missing"):
        restore(rush.term)
    assert dump(rush.term) == before
    assert not fence.why(rush.term)


def test_killed_restore_leaves_the_fence_and_can_start_again(rush: Rush) -> None:
    before = dump(rush.term)
    lose(rush)
    with transaction() as session:
        session.execute(text("SET LOCAL idle_in_transaction_session_timeout = 0"))
        # The final audit can't read this, so the restore does not get that far.
        session.execute(text("LOCK TABLE enrollments IN ACCESS EXCLUSIVE MODE"))
        one = commands.start("rebuild", "ledger", "--yes")
        while not backend().redis.exists(f"{prefix(rush.term)}:seats"):
            assert one.poll() is None
        one.kill()
        one.wait()
    assert fence.why(rush.term)
    restore(rush.term)
    assert not fence.why(rush.term)
    assert dump(rush.term) == before


def test_command_prints_its_plan_first(rush: Rush) -> None:
    lose(rush)
    result = CliRunner().invoke(rebuild_command, ["ledger"])
    assert result.exit_code == 0, result.output
    assert "3  sections" in result.output
    assert "6  seats" in result.output
    assert "6  waitlist positions" in result.output
    assert "dry run" in result.output
    assert not backend().redis.exists(f"{prefix(rush.term)}:seats")
    done = CliRunner().invoke(rebuild_command, ["ledger", "--yes", "--term", "Fall 2030"])
    assert done.exit_code == 0, done.output
    assert "Students can register again" in done.output
    assert entries()[-1].action == "ledger.rebuilt"


def test_only_the_term_with_a_lost_ledger_is_rebuilt(rush: Rush) -> None:
    other = another(rush)
    untouched, before = dump(other.term), dump(rush.term)
    lose(rush)
    done = CliRunner().invoke(rebuild_command, ["ledger", "--yes"])
    assert done.exit_code == 0, done.output
    assert "Fall 2030: the ledger has lost recorded decisions." in done.output
    assert "Spring 2031: the ledger matches the event log." in done.output
    assert "Spring 2031: as of event" not in done.output
    assert (dump(rush.term), dump(other.term)) == (before, untouched)
    assert _rebuilt() == [rush.term]


def test_term_whose_ledger_differs_from_the_log_is_rebuilt(rush: Rush) -> None:
    before = dump(rush.term)
    change, _ = TAMPERINGS["a seat was taken from the ledger"]
    change(rush)
    assert dump(rush.term) != before
    done = CliRunner().invoke(rebuild_command, ["ledger", "--yes"])
    assert done.exit_code == 0, done.output
    assert "differences between ledger, journal and event log" in done.output
    assert dump(rush.term) == before


def test_a_fenced_term_is_rebuilt(rush: Rush) -> None:
    fence.replace(rush.term, "it is being restored from the event log")
    done = CliRunner().invoke(rebuild_command, ["ledger", "--yes"])
    assert done.exit_code == 0, done.output
    assert "Fall 2030: fenced, as it is being restored" in done.output
    assert not fence.why(rush.term)


def test_consistent_terms_are_rebuilt_only_on_request(rush: Rush) -> None:
    another(rush)
    result = CliRunner().invoke(rebuild_command, ["ledger", "--yes"])
    assert (result.exit_code, _rebuilt()) == (0, [])
    assert "Nothing to rebuild" in result.output
    assert (
        CliRunner().invoke(rebuild_command, ["ledger", "--yes", "--term", "Fall 2030"]).exit_code
        == 0
    )
    assert _rebuilt() == [rush.term]
    assert CliRunner().invoke(rebuild_command, ["ledger", "--yes", "--all"]).exit_code == 0
    assert len(_rebuilt()) == 3  # the one before, and both


def another(rush: Rush) -> Rush:
    """Return another term of the same students, all recorded."""
    term = a_term("Spring 2031")
    window = an_open_window(term)
    section = a_section(a_course(), term)
    backend().ledger.put_sections(term.id, [spec(section.id)])
    made = Rush(term.id, [section.id], rush.students, window.id)
    claims(made, everyone_everywhere(made))
    drain(term.id)
    return made


def _rebuilt() -> list[int]:
    """Return the terms whose ledger was rebuilt, by the audit trail."""
    return [int(each.subject.removeprefix("term:")) for each in entries("ledger.rebuilt")]
