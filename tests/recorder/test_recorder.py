"""The journal is recorded exactly once, in order, or not at all."""

import json
import multiprocessing
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from psycopg2 import Error as DriverError
from sqlalchemy import func, select, text, update
from sqlalchemy.exc import DBAPIError

from portal import backend as connections
from portal import subscribers
from portal.backend import Backend, backend
from portal.core.checkpoints import Checkpoint
from portal.core.db import Sessions, transaction
from portal.core.settings import Settings
from portal.recorder import journal as margin
from portal.recorder import read_models, recorder
from portal.recorder.consistency.audit import audit
from portal.recorder.journal import JournalGap, last_seq
from portal.recorder.models import Enrollment
from portal.recorder.projections import UnknownEvent
from portal.recorder.recorder import UnknownStudents, drain
from tests.owner_role import as_owner
from tests.recorder.processes import events, recorded, wait_for
from tests.recorder.rush import Rush, a_rush, claim, claims, drop, everyone_everywhere, spec


@pytest.fixture
def small_batches(backend: Backend, monkeypatch: pytest.MonkeyPatch) -> int:  # noqa: ARG001
    """Let this process record fewer events at once; return how many."""
    monkeypatch.setattr(recorder, "BATCH", 200)
    return recorder.BATCH


def test_second_drain_records_nothing(backend: Backend) -> None:  # noqa: ARG001
    rush = a_rush(sections=2, students=5)
    claims(rush, everyone_everywhere(rush))
    assert drain(rush.term) == 2 + 2 + 10
    assert drain(rush.term) == 0
    assert events(rush.term) == 14


def test_batches_are_recorded_in_order(small_batches: int) -> None:
    rush = a_rush(sections=10, students=50, capacity=40, waitlist=20)
    claims(rush, everyone_everywhere(rush))
    drain(rush.term)
    assert events(rush.term) == 512 > 2 * small_batches
    assert audit()["clean"]


def journal_numbers(rush: Rush) -> list[int]:
    """Return the numbers of the events in the journal."""
    entries: Any = backend().redis.xrange(f"{{t:{rush.term}}}:journal")
    return [int(entry.split(b"-")[0]) for entry, _ in entries]


def test_journal_keeps_only_a_margin_of_recorded_events(
    backend: Backend,  # noqa: ARG001
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rush = a_rush(sections=1, students=5)
    claims(rush, everyone_everywhere(rush))
    drain(rush.term)
    assert journal_numbers(rush) == list(range(1, recorded(rush.term) + 1))
    monkeypatch.setattr(margin, "KEPT_EVENTS", 2)
    last = drop(rush, rush.students[0], rush.sections[0]).seq
    drain(rush.term)
    assert journal_numbers(rush) == [last - 2, last - 1, last]


def test_idle_term_keeps_only_its_last_event(backend: Backend) -> None:  # noqa: ARG001
    rush = a_rush(sections=1, students=3)
    drain(rush.term)
    with transaction() as session:
        margin.trim_idle_terms(session)
    assert len(journal_numbers(rush)) == recorded(rush.term)
    with transaction() as session:
        session.execute(update(Checkpoint).values(moved_at=func.now() - margin.IDLE))
    claim(rush, rush.students[0], rush.sections[0])  # not recorded
    with transaction() as session:
        margin.trim_idle_terms(session)
    assert journal_numbers(rush) == [recorded(rush.term), recorded(rush.term) + 1]
    assert drain(rush.term) == 1


def test_restarted_ledger_is_detected_even_if_its_numbers_fit(backend: Backend) -> None:
    rush = a_rush(sections=1, students=5)
    claim(rush, rush.students[0], rush.sections[0])
    drain(rush.term)
    backend.redis.flushall()
    now = backend.ledger.now()
    backend.ledger.put_window(rush.term, rush.window, "Other", now, now + 60_000, {}, "tests")
    backend.ledger.put_sections(rush.term, [spec(rush.sections[0])])
    claims(rush, everyone_everywhere(rush))
    with pytest.raises(JournalGap, match="as recorded"):
        drain(rush.term)


def test_pages_are_notified_of_recorded_events(backend: Backend) -> None:
    rush = a_rush(sections=1, students=2)
    with backend.redis.pubsub(ignore_subscribe_messages=True) as listener:
        listener.subscribe(f"{{t:{rush.term}}}:recorded")
        listener.get_message(timeout=30)
        answer = claim(rush, rush.students[0], rush.sections[0])
        drain(rush.term)
        message = json.loads(listener.get_message(timeout=30)["data"])
    result = {"sections": rush.sections, "students": [rush.students[0]], "seq": answer.seq}
    assert message == result


def drain_in_a_process(settings: Settings, term: int) -> None:
    subscribers.connect()
    connections.connect(settings)
    drain(term)


def test_recorders_of_one_term_take_turns(backend: Backend) -> None:
    rush = a_rush(sections=4, students=1500, capacity=1000, waitlist=600)
    claims(rush, everyone_everywhere(rush))
    spawn = multiprocessing.get_context("spawn")
    drainers = [
        spawn.Process(target=drain_in_a_process, args=(backend.settings, rush.term))
        for _ in range(3)
    ]
    for drainer in drainers:
        drainer.start()
    for drainer in drainers:
        drainer.join(600)
    assert [drainer.exitcode for drainer in drainers] == [0, 0, 0]
    assert events(rush.term) == 6006
    assert audit()["clean"]


def test_gap_in_the_journal_stops_the_recorder(backend: Backend) -> None:
    rush = a_rush(sections=1, students=3)
    answers = [claim(rush, student, rush.sections[0]) for student in rush.students]
    backend.redis.xdel(f"{{t:{rush.term}}}:journal", f"{answers[1].seq}-0")
    with pytest.raises(JournalGap):
        drain(rush.term)
    assert events(rush.term) == 0


def test_lost_journal_stops_the_recorder(backend: Backend) -> None:
    rush = a_rush(sections=1, students=1)
    backend.redis.delete(f"{{t:{rush.term}}}:journal")
    with pytest.raises(JournalGap):
        drain(rush.term)


def test_ledger_behind_the_record_stops_the_recorder(backend: Backend) -> None:
    rush = a_rush(sections=1, students=1)
    drain(rush.term)
    backend.redis.flushall()
    with pytest.raises(JournalGap):
        drain(rush.term)


def add_event(rush: Rush, **change: object) -> int:
    """Add an event to the journal that is unreadable after this change; return its number."""
    journal, key = f"{{t:{rush.term}}}:journal", f"{{t:{rush.term}}}:seq"
    seq = backend().redis.incr(key)
    event = {"seq": seq, "at": 1, "name": "enrolled", "version": 1, "aggregate": "section:1"}
    backend().redis.xadd(journal, {"event": json.dumps(event | change)}, id=f"{seq}-0")
    return int(seq)  # type: ignore[arg-type]


@pytest.mark.parametrize("change", [{"name": "swapped"}, {"version": 2}])
def test_event_of_a_newer_release_stops_the_recorder(
    backend: Backend,  # noqa: ARG001
    change: dict[str, object],
) -> None:
    rush = a_rush(sections=1, students=1)
    drain(rush.term)
    seq = add_event(rush, **change)
    with pytest.raises(UnknownEvent):
        drain(rush.term)
    assert recorded(rush.term) == seq - 1


@pytest.mark.parametrize(("change", "error"), [({"version": 2}, UnknownEvent), ({}, KeyError)])
def test_batch_that_ends_with_an_unreadable_event_leaves_no_trace(
    backend: Backend,  # noqa: ARG001
    change: dict[str, object],
    error: type[Exception],
) -> None:
    rush = a_rush(sections=1, students=500, capacity=500)
    claims(rush, everyone_everywhere(rush))
    add_event(rush, **change)
    with pytest.raises(error):
        drain(rush.term)
    assert (recorded(rush.term), events(rush.term)) == (0, 0)


@contextmanager
def failing_at(seq: int, failure: str) -> Iterator[None]:
    """Make PostgreSQL fail when it stores the event with that number."""
    with as_owner() as session:
        session.execute(
            text(
                "CREATE FUNCTION fail_for_tests() RETURNS trigger LANGUAGE plpgsql AS"
                f" $$ BEGIN {failure}; RETURN NEW; END $$"
            )
        )
        session.execute(
            text(
                "CREATE TRIGGER fail_for_tests BEFORE INSERT ON events FOR EACH ROW"
                f" WHEN (NEW.seq = {seq}) EXECUTE FUNCTION fail_for_tests()"
            )
        )
    try:
        yield
    finally:
        with as_owner() as session:
            session.execute(text("DROP FUNCTION fail_for_tests CASCADE"))


@pytest.mark.parametrize(
    "failure", ["RAISE 'disk full'", "PERFORM pg_terminate_backend(pg_backend_pid())"]
)
def test_failure_within_a_batch_loses_and_doubles_nothing(
    small_batches: int,
    failure: str,
) -> None:
    rush = a_rush(sections=6, students=100, capacity=80, waitlist=40)
    claims(rush, everyone_everywhere(rush))
    with failing_at(small_batches + 50, failure), pytest.raises((DBAPIError, DriverError)):
        drain(rush.term)
    assert recorded(rush.term) == events(rush.term) == small_batches
    drain(rush.term)
    assert events(rush.term) == recorded(rush.term) == last_seq(rush.term)
    assert audit()["clean"]


def test_failed_batch_leaves_no_trace(backend: Backend) -> None:  # noqa: ARG001
    rush = a_rush(sections=1, students=2)
    drain(rush.term)
    before = recorded(rush.term)
    claim(rush, rush.students[0], rush.sections[0])
    with transaction() as session:
        session.execute(text("DELETE FROM students"))
    with pytest.raises(UnknownStudents):
        drain(rush.term)
    assert (recorded(rush.term), events(rush.term)) == (before, before)
    assert journal_numbers(rush)[-1] == before + 1


def test_newer_row_is_not_overwritten(backend: Backend) -> None:  # noqa: ARG001
    rush = a_rush(sections=1, students=1)
    claim(rush, rush.students[0], rush.sections[0])
    drain(rush.term)
    with transaction() as session:
        state = read_models.load_all(session, rush.term)
        older = state.enrollments[rush.sections[0], rush.students[0]]
        older |= {"credits": 1, "seq": older["seq"] - 1}
        read_models.write(session, rush.term, state, after=0)
    with transaction() as session:
        assert session.scalars(select(Enrollment.credits)).one() == 300


def test_frozen_recorder_is_replaced(backend: Backend) -> None:  # noqa: ARG001
    rush = a_rush(sections=1, students=1)
    drain(rush.term)
    claim(rush, rush.students[0], rush.sections[0])
    frozen = Sessions()
    frozen.execute(select(Checkpoint).with_for_update())
    assert drain(rush.term) == 0
    wait_for(lambda: drain(rush.term) == 1)
    with pytest.raises(DBAPIError):
        frozen.execute(select(Checkpoint))
    frozen.close()
