"""Waiting rooms are recorded by the journal, survive the loss of the ledger, and feed reports."""

import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from threading import Event
from typing import Any

import pytest
from sqlalchemy import select, text

from portal.backend import Backend
from portal.catalog.models import Term
from portal.core import flags
from portal.core.db import transaction
from portal.ledger.errors import LedgerUnavailable
from portal.ledger.types import WindowView
from portal.recorder.consistency import continuous_audit, fence, partial_audit
from portal.recorder.consistency.audit import audit_term
from portal.recorder.consistency.repair import rebuild
from portal.recorder.consistency.restore import plan, restore
from portal.recorder.models import QueueEntryRecord, QueueRoom
from portal.recorder.recorder import drain
from portal.reports.fairness import read_arrivals
from portal.reports.window_history import read_history
from portal.waiting_room import admission_limits, draw, room
from portal.waiting_room.admission_limits import AdmissionLimits
from portal.windows import draw_seeds
from portal.windows.models import Window
from tests import cast as builders
from tests.cast import Cast
from tests.waiting_room.rooms import key, limits, open_now, visit_over

FIRST = 900_001  # students whom only the room knows


@pytest.fixture
def term(backend: Backend, cast: Cast) -> Term:
    assert backend
    assert cast
    return builders.a_term()


@pytest.fixture(autouse=True)
def _all_on() -> Iterator[None]:
    yield
    flags._off = frozenset()  # noqa: SLF001 - as after a start


def rows(term: Term) -> dict[int, QueueEntryRecord]:
    drain(term.id)
    with transaction() as session:
        found = session.scalars(select(QueueEntryRecord).order_by(QueueEntryRecord.seq))
        return {row.student_id: row for row in found}


def lose(backend: Backend, term: Term) -> None:
    """Delete everything that the ledger knows of the term."""
    for name in backend.redis.scan_iter(match=f"{{t:{term.id}}}:*"):
        backend.redis.delete(name)
    draw_seeds.forget()
    draw.forget()


def enter(term: Term, window: WindowView, *students: int) -> None:
    for student in students:
        room.enter(term.id, window.id, student)


def places(term: Term, window: WindowView, students: Any) -> dict[int, tuple[str, str, int, int]]:
    """Return kind, request, number and students ahead of each student."""
    found = ((each, room.queue_entry(term.id, window.id, each)) for each in students)
    return {each: (e.kind, e.request, e.number, e.ahead) for each, e in found}


def test_joins_departures_and_admissions_are_recorded(term: Term) -> None:
    window = builders.an_open_window(term)
    limits(term, window, per_minute=6000, at_once=1)
    first, second, third = range(FIRST, FIRST + 3)
    enter(term, window, first, second, third)
    found = rows(term)
    assert [found[each].state for each in (first, second, third)] == [
        "admitted",
        "waiting",
        "waiting",
    ]
    assert [found[each].number for each in (first, second, third)] == [1, 2, 3]
    assert found[first].admitted_at
    room.leave(term.id, window.id, third)
    room.leave(term.id, window.id, first)  # which admits the second
    found = rows(term)
    assert [found[each].state for each in (first, second, third)] == ["ended", "admitted", "left"]
    enter(term, window, third)
    assert rows(term)[third].number == 3
    assert audit_term(term.id)["clean"]


def test_read_models_are_rebuilt_from_the_log(term: Term) -> None:
    window = builders.a_coming_window(term)
    enter(term, window, FIRST, FIRST + 1)
    room.leave(term.id, window.id, FIRST)
    known = {student: row.state for student, row in rows(term).items()}
    with transaction() as session:
        session.execute(text("DELETE FROM queue_entries"))
        session.execute(text("UPDATE queue_rooms SET called = 7"))
    assert len(audit_term(term.id)["differences"]) == 3
    assert len(rebuild(term.id).differences) == 3
    assert {student: row.state for student, row in rows(term).items()} == known
    assert audit_term(term.id)["clean"]


def test_order_of_the_draw_survives_the_loss_of_the_ledger(backend: Backend, term: Term) -> None:
    window, students = builders.a_coming_window(term), range(FIRST, FIRST + 30)
    enter(term, window, *students)
    commitment = draw_seeds.commitment(term.id, window.id)
    order = draw.drawn_requests(term.id, window.id)
    drain(term.id)
    lose(backend, term)
    assert plan(term.id).contents["waiting rooms"] == 1
    assert restore(term.id).report["clean"]
    assert draw_seeds.commitment(term.id, window.id) == commitment
    assert draw.drawn_requests(term.id, window.id) == order
    limits(term, window, per_minute=60, at_once=1)
    open_now(term, window)
    drawn = draw.published(term.id, window.id, opened=True)
    assert drawn.is_fair
    kinds = [place[0] for place in places(term, window, students).values()]
    assert sorted(kinds) == ["called"] + 29 * ["waiting"]


@pytest.mark.parametrize("seed", range(4))
def test_places_survive_the_loss_of_the_ledger(backend: Backend, term: Term, seed: int) -> None:
    chance, students = random.Random(seed), range(FIRST, FIRST + 25)
    window = builders.a_coming_window(term)
    limits(term, window, per_minute=6000, at_once=4)
    enter(term, window, *students[:10])
    room.leave(term.id, window.id, students[3])
    open_now(term, window)
    for _ in range(60):
        student = chance.choice(students)
        act = chance.choice(["enter", "enter", "leave", "visit over"])
        if act == "enter":
            enter(term, window, student)
        elif act == "leave":
            room.leave(term.id, window.id, student)
        elif room.queue_entry(term.id, window.id, student).kind == "called":
            room.extend_stay(term.id, window.id, student)
            visit_over(backend, term, window, student)
    limits(term, window, per_minute=0, at_once=4)
    before = places(term, window, students)
    waiting = room.state(term.id, window.id).waiting
    ahead = backend.redis.zrange(key(term, window, "gone"), 0, -1)  # who left before their turn
    departed = {each: row.entry for each, row in rows(term).items() if row.entry.encode() in ahead}
    assert departed
    lose(backend, term)
    assert restore(term.id).report["clean"]
    limits(term, window, per_minute=0, at_once=4)
    after = places(term, window, students)
    for student, place in before.items():
        if place[0] == "waiting":
            assert after[student] == place
    assert room.state(term.id, window.id).waiting == waiting
    for student, entry in departed.items():  # a student who comes back gets the same entry
        assert room.enter(term.id, window.id, student).request == entry


def test_reset_room_and_ended_visit_are_recorded(backend: Backend, term: Term) -> None:
    window = builders.an_open_window(term)
    limits(term, window, per_minute=6000, at_once=1)
    enter(term, window, FIRST, FIRST + 1)
    assert room.expire(term.id, window.id, FIRST, "key")
    assert {each: row.state for each, row in rows(term).items()} == {
        FIRST: "ended",
        FIRST + 1: "admitted",
    }
    room.reset(term.id, window.id, "key")
    limits(term, window, per_minute=0, at_once=1)
    assert {row.state for row in rows(term).values()} == {"removed"}
    enter(term, window, FIRST + 2, FIRST + 1)
    drain(term.id)
    before = places(term, window, range(FIRST, FIRST + 3))
    assert [place[2] for place in before.values()] == [0, 2, 1]
    assert audit_term(term.id)["clean"]
    lose(backend, term)
    assert restore(term.id).report["clean"]
    limits(term, window, per_minute=0, at_once=1)
    assert places(term, window, range(FIRST, FIRST + 3)) == before


def test_room_that_is_reset_while_its_record_is_off_stays_empty(
    backend: Backend, term: Term, cast: Cast
) -> None:
    window = builders.an_open_window(term)
    limits(term, window, per_minute=0, at_once=9)
    enter(term, window, FIRST, FIRST + 1)
    drain(term.id)
    flags.change(flags.Switching("room_record", on=False, version=0, reason="tests"), cast.max.id)
    room.reset(term.id, window.id, "key")
    limits(term, window, per_minute=0, at_once=9)
    flags.change(flags.Switching("room_record", on=True, version=1, reason="tests"), cast.max.id)
    enter(term, window, FIRST + 2)
    assert [row.state for row in rows(term).values()] == ["removed", "removed", "waiting"]
    assert audit_term(term.id)["clean"]
    assert plan(term.id).contents["waiting rooms"] == 0
    before = places(term, window, range(FIRST, FIRST + 3))
    lose(backend, term)
    assert restore(term.id).report["clean"]
    limits(term, window, per_minute=0, at_once=9)
    assert places(term, window, range(FIRST, FIRST + 3)) == before


def test_limits_that_an_admin_set_are_restored(backend: Backend, term: Term, cast: Cast) -> None:
    window = builders.an_open_window(term)
    seen = admission_limits.limits_of(room.state(term.id, window.id))
    paused = AdmissionLimits(0, 77)
    admission_limits.change(
        term.id, window.id, paused, seen, by=cast.max.id, reason="A flood in the library."
    )
    enter(term, window, FIRST)
    drain(term.id)
    lose(backend, term)
    restore(term.id)
    state = room.state(term.id, window.id)
    assert (state.paused, state.at_once, state.waiting) == (True, 77, 1)


def test_room_that_lost_nothing_is_left_alone(backend: Backend, term: Term) -> None:
    window = builders.an_open_window(term)
    limits(term, window, per_minute=6000, at_once=1)
    enter(term, window, FIRST, FIRST + 1)
    drain(term.id)
    ends = backend.redis.zscore(key(term, window, "in"), str(FIRST))
    assert plan(term.id).contents["waiting rooms"] == 0
    assert restore(term.id).report["clean"]
    assert backend.redis.zscore(key(term, window, "in"), str(FIRST)) == ends


def test_audit_reports_a_lost_queue_entry(backend: Backend, term: Term) -> None:
    window = builders.a_coming_window(term)
    enter(term, window, *range(FIRST, FIRST + 5))
    lost = room.queue_entry(term.id, window.id, FIRST + 2).request
    assert audit_term(term.id)["clean"]
    backend.redis.zrem(key(term, window, "line"), lost)
    [difference] = audit_term(term.id)["differences"]
    assert difference["where"] == "ledger waiting room"
    assert difference["what"] == f"window {window.id}, queue entry {lost}"
    assert restore(term.id).report["clean"]
    assert audit_term(term.id)["clean"]


def test_audit_reports_other_changes_of_a_queue(backend: Backend, term: Term) -> None:
    window = builders.an_open_window(term)
    limits(term, window, per_minute=6000, at_once=1)
    enter(term, window, FIRST, FIRST + 1, FIRST + 2)
    base = key(term, window, "line").removesuffix(":line")
    late = room.queue_entry(term.id, window.id, FIRST + 2).request
    backend.redis.zadd(key(term, window, "line"), {"stranger": 99, late: 0.5})
    backend.redis.hset(base, "called", 2)
    found = {each["what"]: each for each in audit_term(term.id)["differences"]}
    wrong = {what.removeprefix(f"window {window.id}, "): each for what, each in found.items()}
    assert set(wrong) == {"queue entries", "passed entries", f"queue entry {late}"}
    assert (wrong["passed entries"]["ledger"], wrong["passed entries"]["log"]) == (2, 1)


def test_audit_finds_no_difference_while_students_come_and_go(term: Term) -> None:
    window, ended = builders.an_open_window(term), Event()
    limits(term, window, per_minute=60_000, at_once=3)

    def come_and_go() -> None:
        for number in count():
            student = FIRST + number % 40
            if number % 3:
                room.enter(term.id, window.id, student)
            else:
                room.leave(term.id, window.id, student)
            if number % 97 == 96:
                room.reset(term.id, window.id, f"key {number}")
                limits(term, window, per_minute=60_000, at_once=3)
            if ended.is_set():
                return

    with ThreadPoolExecutor() as pool:
        busy = pool.submit(come_and_go)
        try:
            reports = [audit_term(term.id) for _ in range(20)]
        finally:
            ended.set()
        busy.result()
    assert [each["differences"] for each in reports] == 20 * [[]]
    assert audit_term(term.id)["clean"]


def test_fairness_is_reported_from_the_log(backend: Backend, term: Term) -> None:
    window, students = builders.a_coming_window(term), range(FIRST, FIRST + 12)
    limits(term, window)
    enter(term, window, *students)
    open_now(term, window)
    enter(term, window, FIRST + 50)
    expected = draw.arrivals(term.id, window.id)
    drain(term.id)
    lose(backend, term)
    with transaction() as session:
        last = session.scalar(text("SELECT max(seq) FROM events")) or 0
        found = read_history(session, session.get_one(Window, window.id), last)
    known = read_arrivals(found)
    assert (known.early, dict(known.late)) == expected
    assert len(known.early) == 12
    assert list(known.late) == [FIRST + 50]


def test_student_who_left_does_not_count_as_waiting(term: Term) -> None:
    window = builders.an_open_window(term)
    limits(term, window, per_minute=0, at_once=9)
    first, second, third = range(FIRST, FIRST + 3)
    enter(term, window, first, second, third)
    assert room.state(term.id, window.id).waiting == 3
    room.leave(term.id, window.id, second)
    assert room.state(term.id, window.id).waiting == 2
    assert room.queue_entry(term.id, window.id, third).ahead == 1
    assert room.queue_entry(term.id, window.id, third).position == 2
    enter(term, window, second)  # back in their old place
    assert room.state(term.id, window.id).waiting == 3
    assert room.queue_entry(term.id, window.id, third).ahead == 2
    room.leave(term.id, window.id, second)
    limits(term, window, per_minute=6000, at_once=9)
    assert room.queue_entry(term.id, window.id, third).kind == "called"
    assert room.state(term.id, window.id).waiting == 0


def test_nothing_is_recorded_while_the_record_is_switched_off(term: Term, cast: Cast) -> None:
    window = builders.an_open_window(term)
    limits(term, window, per_minute=0, at_once=9)
    flags.change(flags.Switching("room_record", on=False, version=0, reason="tests"), cast.max.id)
    enter(term, window, FIRST)
    assert rows(term) == {}
    flags.change(flags.Switching("room_record", on=True, version=1, reason="tests"), cast.max.id)
    enter(term, window, FIRST + 1)
    room.leave(term.id, window.id, FIRST)
    assert list(rows(term)) == [FIRST + 1]
    with transaction() as session:
        assert not session.scalars(select(QueueRoom)).one().complete
    assert audit_term(term.id)["clean"]
    assert plan(term.id).contents["waiting rooms"] == 0


def test_fenced_room_admits_no_one(term: Term) -> None:
    window = builders.an_open_window(term)
    limits(term, window, per_minute=0, at_once=9)
    enter(term, window, FIRST)
    fence.put_up(term.id, "a test")
    limits(term, window, per_minute=6000, at_once=9)
    with pytest.raises(LedgerUnavailable):
        enter(term, window, FIRST + 1)
    with pytest.raises(LedgerUnavailable):
        room.leave(term.id, window.id, FIRST)
    assert room.queue_entry(term.id, window.id, FIRST).kind == "waiting"


def places_found(term: Term) -> list[str]:
    """Return where a part of the continuous audit finds differences."""
    return [each["where"] for each in continuous_audit.audit_next_part(term.id)]


def test_waiting_rooms_are_compared_once_a_round_and_while_they_differ(
    term: Term, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(3):
        builders.a_section(builders.a_course(f"ART-{number}"), term)
    monkeypatch.setattr(partial_audit, "AT_ONCE", 1)  # sections of a part
    enter(term, builders.a_coming_window(term), FIRST)

    def part() -> list[str]:
        return [each["where"] for each in continuous_audit.audit_next_part(term.id, seconds=0)]

    assert part() == []
    with transaction() as session:
        session.execute(text("UPDATE queue_rooms SET called = 7"))
    found = [part() for _ in range(6)]
    first = found.index(["queue_rooms"])
    assert first  # the part before it was in the middle of a round
    assert found == [[]] * first + [["queue_rooms"]] * (len(found) - first)


def test_each_round_of_the_continuous_audit_compares_waiting_rooms(
    backend: Backend, term: Term
) -> None:
    window = builders.a_coming_window(term)
    enter(term, window, FIRST, FIRST + 1)
    assert places_found(term) == []
    line = f"{key(term, window)}:line"
    [(entry, score), *_] = backend.redis.zrange(line, 0, -1, withscores=True)
    backend.redis.zrem(line, entry)
    assert places_found(term) == ["ledger waiting room"]
    assert places_found(term) == ["ledger waiting room"]  # the alarm stays
    backend.redis.zadd(line, {entry: score})
    assert places_found(term) == []
    with transaction() as session:
        session.execute(text("UPDATE queue_rooms SET called = 7"))
    assert places_found(term) == ["queue_rooms"]


def test_continuous_audit_finds_nothing_while_students_come_and_go(term: Term) -> None:
    window, enough = builders.an_open_window(term), Event()
    limits(term, window, per_minute=6000, at_once=3)

    def come_and_go() -> None:
        for student in count(FIRST):
            enter(term, window, student)
            if student % 3:
                room.leave(term.id, window.id, student)
            if enough.is_set():
                return

    with ThreadPoolExecutor(1) as pool:
        coming = pool.submit(come_and_go)
        found = [places_found(term) for _ in range(6)]
        enough.set()
    assert coming.exception() is None
    assert found == [[]] * 6
