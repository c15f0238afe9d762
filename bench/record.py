"""How fast the journal comes into PostgreSQL, beside the same rows put there without a thought.

The journal of a rush of 5,000 students is drained as a worker drains it, into the event log and the
read models, which are empty. Then the very rows that it made are put into the same tables, emptied,
with COPY. Both again with another rush, after a small one that is not measured; and some of its
rows by a job each.
"""

from contextlib import ExitStack
from statistics import mean
from typing import Any

import psycopg2
from psycopg2.extras import register_default_jsonb

from bench import portal_on_trial, stage
from bench.baselines import job_per_claim, raw_inserts
from bench.baselines.raw_inserts import Load
from bench.meter import seconds
from bench.sizes import CLASS, SEATS, batches, wishes
from portal import backend as connections
from portal import subscribers
from portal.backend import backend
from portal.core import memory
from portal.core.checkpoints import checkpoint
from portal.core.settings import Settings
from portal.recorder.recorder import BATCH, drain
from tests.record.rush import Rush

STUDENTS, WARMING, JOBS = 5000, 250, 400
TURNS = 2
QUICK = 8  # times fewer
FIGURES = {
    "record_per_s": ("1/s", "events drained from the journal into event log and read models"),
    "record_raw_per_s": ("1/s", "the same with their rows ready, copied into the same tables"),
    "record_vs_raw": ("ratio", "events drained a second over the same copied"),
    "record_jobs_per_s": ("1/s", "enrollments recorded by an RQ job each, in one worker"),
    "record_vs_job_per_claim": ("ratio", "events drained over jobs done"),
}
# What follows from an event, beside itself, and how its rows are ordered.
TABLES = {
    "events": "seq",
    "enrollments": "seq",
    "waitlist_positions": "seq",
    "section_seats": "section_id",
    "answered": "at",
}
COLUMNS = 9  # of an event
JOBS_OF = """
SELECT event.term_id, event.seq, name, version, aggregate, event.student_id, payload::text,
       context::text, occurred_at::text,
       seat.term_id, section_id, seat.student_id, state, credits, registration, since::text,
       seat.seq
FROM events event JOIN enrollments seat ON seat.term_id = event.term_id AND seat.seq = event.seq
ORDER BY event.seq LIMIT %(count)s
"""


def figures(_: int = 0, *, quick: bool = False) -> dict[str, float]:
    """The figures above."""
    part = QUICK if quick else 1
    with ExitStack() as stack:
        stage.servers(stack, durable=not quick)
        settings = Settings.read()
        subscribers.connect()
        connections.connect(settings)
        database = psycopg2.connect(settings.database_url)
        stack.callback(database.close)
        register_default_jsonb(database, loads=str)  # as it is put there
        memory.settle()  # as in a worker
        a_turn(database, WARMING)
        turns = [a_turn(database, STUDENTS // part) for _ in range(TURNS)]
        drained, raw = (mean(rates) for rates in zip(*turns, strict=True))
        jobs = jobs_a_second(database, settings.database_url, JOBS // part)
    return {
        "record_per_s": drained,
        "record_raw_per_s": raw,
        "record_vs_raw": drained / raw,
        "record_jobs_per_s": jobs,
        "record_vs_job_per_claim": drained / jobs,
    }


def a_turn(database: Any, students: int) -> tuple[float, float]:
    """Events a second of a rush of so many, drained, and then copied."""
    with portal_on_trial.a_rush(students, students * SEATS // CLASS, seats=CLASS) as term:
        fill_journal(term, students_of(database, students))
        with database, database.cursor() as cursor:
            _empty(cursor)
        took = seconds(lambda: drain(term, seconds=3600))
        events = checkpoint(term)
        return events / took, events / raw_seconds(database, events)


def students_of(database: Any, count: int) -> list[int]:
    """So many of the students there are."""
    with database, database.cursor() as cursor:
        cursor.execute("SELECT id FROM students ORDER BY id LIMIT %s", (count,))
        return [row[0] for row in cursor]


def fill_journal(term: int, students: list[int]) -> None:
    """What is decided and not recorded: seats and places in line, asked for under keys."""
    ledger = backend().ledger
    [window] = ledger.windows(term)
    for asked in batches(wishes(Rush(term, sorted(ledger.seats(term)), students, window.id))):
        ledger.library.ask_all("submit", term, asked)


def raw_seconds(database: Any, events: int) -> float:
    """How long the rows that are in the tables take to be put there once more."""
    transactions = -(-events // BATCH)
    with database, database.cursor() as cursor:
        loads = [_load(cursor, table, order, transactions) for table, order in TABLES.items()]
        _empty(cursor)
    return seconds(lambda: raw_inserts.insert(database, loads))


def jobs_a_second(database: Any, url: str, count: int) -> float:
    """How many enrollments a worker records where each is a job of its own."""
    with database, database.cursor() as cursor:
        cursor.execute(JOBS_OF, {"count": count})
        jobs = [(row[:COLUMNS], row[COLUMNS:]) for row in cursor.fetchall()]
        _empty(cursor, "events", "enrollments")
    redis = backend().redis
    redis.config_set("appendfsync", "everysec")  # as a queue is usually run
    job_per_claim.connect(url)
    job_per_claim.enqueue(redis, jobs)
    took = seconds(lambda: job_per_claim.work(redis))
    with database, database.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM enrollments")
        if cursor.fetchone() != (len(jobs),):
            raise SystemExit("Not every job was done.")
    return len(jobs) / took


def _load(cursor: Any, table: str, order: str, transactions: int) -> Load:
    cursor.execute(f"SELECT * FROM {table} ORDER BY {order}")  # noqa: S608
    rows = cursor.fetchall()
    columns = tuple(each.name for each in cursor.description)
    return Load(table, columns, rows, -(-len(rows) // transactions))


def _empty(cursor: Any, *tables: str) -> None:
    cursor.execute("SET LOCAL session_replication_role = replica")  # else the log is kept
    cursor.execute(f"TRUNCATE {', '.join(tables or TABLES)}")
