"""Changes made directly in the ledger and PostgreSQL, and where an audit must find them."""

from collections.abc import Callable

from sqlalchemy import text

from portal.backend import backend
from portal.ledger.types import Candidate, Reason
from portal.recorder.recorder import drain
from tests.owner_role import as_owner
from tests.recorder.rush import Rush, a_rush, claim, claims, drop, everyone_everywhere, leave


def a_term_to_tamper_with() -> Rush:
    """Return three full sections with waitlists; in the first the head was skipped."""
    rush = a_rush(sections=3, students=4, capacity=2, waitlist=2)
    claims(rush, everyone_everywhere(rush))
    tomorrow = backend().ledger.now() + 24 * 60 * 60_000
    backend().ledger.put_deadlines(rush.term, {"drop_deadline": tomorrow}, 1)
    backend().ledger.hold_for_round(rush.term, 1, rush.sections[2:])
    backend().ledger.put_round_end(rush.term, 2, tomorrow)
    _, newcomer, leaver, head = rush.students
    section = rush.sections[0]
    drop(rush, newcomer, section)
    leave(rush, leaver, section)
    hold = Candidate(head, (rush.window,), 100_000, rules=(Reason("hold"),))
    backend().ledger.promote(rush.term, section, [hold], "a test")
    claim(rush, leaver, section)
    drain(rush.term)
    return rush


def ledger(command: str, *keys: object) -> Callable[[Rush], object]:
    """Run a command on the ledger; keys are formatted with the term, section and student."""
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
    """Run a statement in PostgreSQL."""

    def change(_rush: Rush) -> None:
        with as_owner() as session:
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
        "ledger seats",
    ),
    "a section has another capacity": (
        ledger("HSET", "{p}:section:{section}", "capacity", "99"),
        "ledger section",
    ),
    "a section is gone": (ledger("HDEL", "{p}:seats", "{section}"), "ledger seats"),
    "a window is gone": (ledger("HDEL", "{p}:windows", "{window}"), "ledger windows"),
    "a deadline was moved": (
        ledger("HSET", "{p}:deadlines", "drop_deadline", "4000000000000"),
        "ledger deadlines",
    ),
    "a round lost its sections": (ledger("DEL", "{p}:in_round"), "ledger in_round"),
    "a round lost its end": (ledger("DEL", "{p}:round_ends"), "ledger round_ends"),
    "a seat seems vacant": (ledger("SADD", "{p}:vacant", "{section}"), "ledger vacant"),
    "an enrollment was altered": (
        database(
            "UPDATE enrollments SET credits = 1 WHERE student_id IN (SELECT min(id) FROM students)"
        ),
        "enrollments",
    ),
    "an enrollment was deleted": (database("DELETE FROM enrollments"), "enrollments"),
    "a place was altered": (
        database("UPDATE waitlist_positions SET ticket = 1"),
        "waitlist_positions",
    ),
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
