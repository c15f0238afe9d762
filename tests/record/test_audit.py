"""Ledger, event log and read models tell the same; whatever is tampered with is named."""

import json
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from threading import Event

import pytest
from sqlalchemy import text

from portal.backend import Backend, backend
from portal.db import transaction
from portal.record.audit import audit, audit_term
from portal.record.drain import drain
from portal.seats.answers import Reason
from portal.seats.asks import Candidate
from tests.record.rush import Rush, a_rush, claim, claims, drop, everyone_everywhere, leave
from tests.record.storm import storm


@pytest.fixture
def rush(backend: Backend) -> Rush:
    """Three full sections, each with a list; in the first the head was passed over."""
    rush = a_rush(sections=3, students=4, capacity=2, waitlist=2)
    claims(rush, everyone_everywhere(rush))
    _, newcomer, leaver, head = rush.students
    section = rush.sections[0]
    drop(rush, newcomer, section)
    leave(rush, leaver, section)
    hold = Candidate(head, (rush.window,), 100_000, rules=(Reason("hold"),))
    backend.ledger.promote(rush.term, section, [hold], "a test")
    claim(rush, leaver, section)
    drain(rush.term)
    return rush


@pytest.mark.parametrize("seed", range(1, 7))
def test_a_storm_leaves_no_difference(backend: Backend, seed: int) -> None:  # noqa: ARG001
    rush = a_rush(sections=4, students=12, capacity=3, waitlist=4)
    storm(rush, seed)
    report = audit_term(rush.term)
    assert report["differences"] == []
    assert report["clean"]
    assert report["events"] > 100


def test_it_compares_while_claims_go_on(backend: Backend) -> None:  # noqa: ARG001
    rush = a_rush(sections=4, students=12, capacity=3, waitlist=4)
    enough = Event()

    def stormy(seed: int) -> None:
        for each in count(seed, 2):
            storm(rush, each, 50)
            if enough.is_set():
                return

    with ThreadPoolExecutor(2) as pool:
        storms = [pool.submit(stormy, seed) for seed in (1, 2)]
        reports = [audit_term(rush.term) for _ in range(8)]
        enough.set()
    assert [each.exception() for each in storms] == [None, None]
    assert [report["differences"] for report in reports] == [[]] * 8
    assert reports[0]["events"] < reports[-1]["events"]


def test_it_stands_a_whole_semester(backend: Backend) -> None:  # noqa: ARG001
    rush = a_rush(sections=2250, students=400, capacity=30, waitlist=10)
    wishes = [
        (student, rush.sections[(number * 7 + each * 331) % 2250])
        for each in range(1, 7)
        for number, student in enumerate(rush.students)
    ]
    claims(rush, wishes)
    drain(rush.term)
    assert audit_term(rush.term)["clean"]


def ledger(command: str, *keys: object) -> Callable[[Rush], object]:
    """A hand in the ledger; keys are formatted with the term, section and student."""
    return lambda rush: backend().redis.execute_command(
        command,
        *[
            str(key).format(
                p=f"{{t:{rush.term}}}",
                section=rush.sections[0],
                seated=rush.students[0],
                waiting=rush.students[3],
                other=rush.sections[1],
                window=rush.window,
            )
            for key in keys
        ],
    )


def database(statement: str) -> Callable[[Rush], object]:
    """A hand in PostgreSQL."""

    def change(_rush: Rush) -> None:
        with transaction() as session:
            session.execute(text("SET LOCAL session_replication_role = replica"))
            assert session.execute(text(statement)).rowcount > 0  # type: ignore[attr-defined]

    return change


TAMPERINGS = {
    "a seat was taken from the ledger": (
        ledger("HDEL", "{p}:roster:{section}", "{seated}"),
        "ledger roster",
    ),
    "a seat was put into the ledger": (
        ledger("HSET", "{p}:roster:{section}", "{waiting}", "300:99:1"),
        "ledger roster",
    ),
    "a student's own key lost a seat": (
        ledger("HDEL", "{p}:student:{seated}", "e:{section}"),
        "ledger student",
    ),
    "a waiter was taken from the list": (
        ledger("ZREM", "{p}:queue:{section}", "{waiting}"),
        "ledger queue",
    ),
    "a waiter jumped the queue": (
        ledger("ZADD", "{p}:queue:{section}", "1", "{waiting}"),
        "ledger queue",
    ),
    "a waiter was marked as passed over": (
        ledger("HSET", "{p}:passed:{other}", "{waiting}", "[]"),
        "ledger passed",
    ),
    "a mark of being passed over is gone": (
        ledger("DEL", "{p}:passed:{section}"),
        "ledger passed",
    ),
    "the counts are wrong": (
        ledger("HSET", "{p}:seats", "{section}", '[2,1,2,2,"OPEN",1]'),
        "ledger counts",
    ),
    "a section has another capacity": (
        ledger("HSET", "{p}:section:{section}", "capacity", "99"),
        "ledger section",
    ),
    "a section is gone": (ledger("HDEL", "{p}:seats", "{section}"), "ledger counts"),
    "a window is gone": (ledger("HDEL", "{p}:windows", "{window}"), "ledger windows"),
    "a seat seems vacant": (ledger("SADD", "{p}:vacant", "{section}"), "ledger vacant"),
    "an enrollment was altered": (
        database(
            "UPDATE enrollments SET credits = 1 WHERE student_id IN (SELECT min(id) FROM students)"
        ),
        "enrollments",
    ),
    "an enrollment was deleted": (database("DELETE FROM enrollments"), "enrollments"),
    "a place was altered": (database("UPDATE waitlist_places SET ticket = 1"), "waitlist_places"),
    "the read model has other counts": (
        database("UPDATE section_seats SET enrolled = enrolled + 1"),
        "section_seats",
    ),
    "a window was altered": (
        database("UPDATE windows SET closes_at = closes_at + interval '1 hour'"),
        "windows",
    ),
    "an event is missing": (database("DELETE FROM events WHERE seq = 5"), "event log"),
    "the last event is missing": (
        database("DELETE FROM events WHERE seq = (SELECT max(seq) FROM events)"),
        "event log",
    ),
    "an event tells another story": (
        database(
            "UPDATE events SET payload = payload || '{\"credits\": 1}' WHERE name = 'enrolled'"
        ),
        "ledger roster",
    ),
    "an event can not be read": (
        database("UPDATE events SET name = 'swapped' WHERE seq = 5"),
        "event log",
    ),
    "an event has lost its section": (
        database("UPDATE events SET payload = '{}' WHERE seq = 5"),
        "event log",
    ),
    "the ledger lost its events": (ledger("SET", "{p}:seq", "1"), "journal"),
}


@pytest.mark.parametrize("tampering", TAMPERINGS)
def test_it_names_what_was_tampered_with(rush: Rush, tampering: str) -> None:
    tamper, where = TAMPERINGS[tampering]
    assert audit_term(rush.term)["clean"]
    tamper(rush)
    report = audit_term(rush.term)
    assert not report["clean"]
    assert where in {difference["where"] for difference in report["differences"]}


def test_what_nobody_has_recorded_is_recorded_first(backend: Backend) -> None:  # noqa: ARG001
    rush = a_rush(sections=1, students=4)
    claims(rush, everyone_everywhere(rush))
    report = audit_term(rush.term)
    assert (report["events"], report["unrecorded"], report["clean"]) == (7, 0, True)


def command(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "portal.cli", "audit", *arguments],
        check=False,
        capture_output=True,
        text=True,
    )


def test_the_command_prints_json_and_fails_where_terms_differ(rush: Rush) -> None:
    good = command()
    assert (good.returncode, json.loads(good.stdout)["clean"]) == (0, True)
    backend().redis.delete(f"{{t:{rush.term}}}:roster:{rush.sections[0]}")
    bad = command("--term", "Fall 2030")
    assert bad.returncode == 1
    (term,) = json.loads(bad.stdout)["terms"]
    assert term["term"] == "Fall 2030"
    assert len([each for each in term["differences"] if each["where"] == "ledger roster"]) == 2


def test_the_command_knows_no_term_of_another_name(rush: Rush) -> None:  # noqa: ARG001
    answer = command("--term", "Spring 1999")
    assert answer.returncode == 2
    assert "Spring 1999" in answer.stderr


def test_every_term_is_compared(rush: Rush) -> None:  # noqa: ARG001
    report = audit()
    assert report["clean"]
    assert [term["term"] for term in report["terms"]] == ["Fall 2030"]
