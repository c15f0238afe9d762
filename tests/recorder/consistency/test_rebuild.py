"""Read models are rebuilt from the event log after any change to them."""

from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest
from click.testing import CliRunner
from sqlalchemy import text

from portal.backend import Backend
from portal.core.db import transaction
from portal.recorder.consistency.audit import audit_term
from portal.recorder.consistency.repair import LogDamaged, rebuild
from portal.recorder.recorder import drain
from portal.runtime.commands.consistency import rebuild_command
from tests.audit_trail import entries
from tests.owner_role import as_owner
from tests.recorder.random_actions import storm
from tests.recorder.rush import Rush, a_rush, claims, everyone_everywhere

FORGED = (
    "INSERT INTO enrollments (term_id, section_id, student_id, state, credits, registration, since,"
    " seq) SELECT term_id, section_id, max(student_id) + 1, 'enrolled', 300, 1, now(), 1"
    " FROM enrollments GROUP BY 1, 2 LIMIT 1"
)
TABLES = "section_seats", "enrollments", "waitlist_positions", "windows"


@pytest.fixture
def rush(backend: Backend) -> Rush:  # noqa: ARG001
    """Return a term with random actions, all recorded."""
    rush = a_rush(sections=4, students=12, capacity=3, waitlist=4)
    storm(rush, seed=7, steps=300)
    drain(rush.term)
    return rush


def tamper(statement: str) -> None:
    with as_owner() as session:
        session.execute(text("SET LOCAL session_replication_role = replica"))
        session.execute(text(statement))


def rows() -> dict[str, list[str]]:
    with transaction() as session:
        return {
            table: sorted(session.scalars(text(f"SELECT t::text FROM {table} t")))  # noqa: S608
            for table in TABLES
        }


def test_deleted_read_models_come_back_unchanged(rush: Rush) -> None:
    before = rows()
    assert all(before.values())
    for table in TABLES:
        tamper(f"DELETE FROM {table}")  # noqa: S608
    rebuilt = rebuild(rush.term)
    assert rows() == before
    assert len(rebuilt.differences) == sum(map(len, before.values()))
    assert audit_term(rush.term)["clean"]


@pytest.mark.parametrize(
    ("statement", "where"),
    [
        ("UPDATE enrollments SET credits = 1", "enrollments"),
        ("UPDATE waitlist_positions SET ticket = 1, seq = 99999", "waitlist_positions"),
        ("UPDATE section_seats SET enrolled = enrolled + 1", "section_seats"),
        ("UPDATE windows SET name = 'Never'", "windows"),
        (
            FORGED,
            "enrollments",
        ),
    ],
)
def test_altered_rows_are_named_and_repaired(rush: Rush, statement: str, where: str) -> None:
    before = rows()
    tamper(statement)
    rebuilt = rebuild(rush.term)
    assert {each["where"] for each in rebuilt.differences} == {where}
    assert rows() == before


def test_rebuild_writes_nothing_without_differences(rush: Rush) -> None:
    writers = text("SELECT xmin::text FROM section_seats ORDER BY section_id")
    with transaction() as session:
        before = session.scalars(writers).all()
    assert rebuild(rush.term).differences == []
    with transaction() as session:
        assert session.scalars(writers).all() == before


def test_rebuild_reports_progress_in_events(rush: Rush) -> None:
    result: list[tuple[str, int, int]] = []
    events = rebuild(rush.term, lambda *said: result.append(said)).events
    assert result[0] == ("replaying", 0, events)
    assert ("replaying", events, events) in result
    assert events > 100


def test_damaged_log_changes_nothing(rush: Rush) -> None:
    tamper("DELETE FROM events WHERE seq = 5")
    tamper("UPDATE section_seats SET enrolled = 77")
    before = rows()
    with pytest.raises(LogDamaged, match="event 5: missing"):
        rebuild(rush.term)
    assert rows() == before


def test_claims_are_recorded_during_a_rebuild(backend: Backend) -> None:  # noqa: ARG001
    rush = a_rush(sections=6, students=30, capacity=9, waitlist=40)
    wishes, done = everyone_everywhere(rush), Event()

    def record() -> None:
        while not done.is_set():
            drain(rush.term, seconds=0)

    with ThreadPoolExecutor(2) as pool:
        drains = pool.submit(record)
        sent = pool.submit(lambda: [claims(rush, [choice]) for choice in wishes])
        found = []
        while not sent.done():
            found.append(rebuild(rush.term).differences)
        done.set()
    assert drains.exception() is None
    assert sent.exception() is None
    assert found == [[]] * len(found)
    assert found
    assert audit_term(rush.term)["clean"]


BLOCKED = text(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
    " WHERE pg_backend_pid() = ANY (pg_blocking_pids(pid))"
)


def test_killed_rebuild_leaves_the_read_models_unchanged(rush: Rush) -> None:
    tamper("DELETE FROM enrollments")
    tamper("UPDATE windows SET name = 'Never'")
    before = rows()
    with ThreadPoolExecutor(1) as pool, transaction() as session:
        # The windows are written last, and that fails here.
        session.execute(text("SELECT FROM windows FOR UPDATE"))
        rebuilding = pool.submit(rebuild, rush.term)
        while not session.scalars(BLOCKED).all():
            assert not rebuilding.done()
            session.execute(text("SELECT pg_stat_clear_snapshot()"))  # to see who has come since
        assert rebuilding.exception()
    assert rows() == before
    rebuild(rush.term)
    assert audit_term(rush.term)["clean"]


def test_command_prints_and_audits_the_differences(rush: Rush) -> None:
    tamper("UPDATE section_seats SET enrolled = enrolled + 1")
    done = CliRunner().invoke(rebuild_command, ["record", "--term", "Fall 2030"])
    assert done.exit_code == 0, done.output
    assert "section_seats, id " in done.output
    assert "4 rows were different" in done.output
    entry = entries()[-1]
    assert (entry.action, entry.subject) == ("record.rebuilt", f"term:{rush.term}")
    assert entry.after
    assert entry.after["changed"] == 4


def test_command_says_what_to_do_about_a_damaged_log(rush: Rush) -> None:  # noqa: ARG001
    tamper("DELETE FROM events WHERE seq = 5")
    done = CliRunner().invoke(rebuild_command, ["record"])
    assert done.exit_code == 1
    assert "event 5: missing" in done.output
    assert "backup" in done.output
