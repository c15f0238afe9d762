"""Events recorded a second, compared with a bare COPY of the same rows and with a job per claim.

The recorder drains the journal of a rush of 5,000 students into the empty event log and read
models, as in a worker. Then COPY inserts the same rows into the same tables, emptied before. A
small rush comes first and is not measured; then both are measured with two rushes. Finally, some
of the rows are inserted with one RQ job each.
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
from portal.core import resources
from portal.core.checkpoints import checkpoint
from portal.core.settings import Settings
from portal.recorder.recorder import BATCH, drain
from tests.recorder.rush import Rush

STUDENTS, WARMING, JOBS = 5000, 250, 400
TURNS = 2
QUICK = 20  # times fewer
FIGURES = {
    "record_per_s": ("1/s", "events a second, from the journal into event log and read models"),
    "record_raw_per_s": ("1/s", "events a second if COPY inserts the same rows, which are ready"),
    "record_vs_raw": ("ratio", "events recorded a second over events copied a second"),
    "record_jobs_per_s": ("1/s", "enrollments recorded a second with one RQ job each, one worker"),
    "record_vs_job_per_claim": ("ratio", "events recorded a second over jobs a second"),
}
# The tables that an event is written to, and the order of their rows.
TABLES = {
    "events": "seq",
    "enrollments": "seq",
    "waitlist_positions": "seq",
    "section_seats": "section_id",
    "stored_answers": "at",
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
    """Return the figures above."""
    part = QUICK if quick else 1
    with ExitStack() as stack:
        stage.servers(stack, quick=quick)
        settings = Settings.read()
        subscribers.connect()
        connections.connect(settings)
        database = psycopg2.connect(settings.database_url)
        stack.callback(database.close)
        register_default_jsonb(database, loads=str)  # as the recorder writes it
        resources.collect_seldom()  # as in a worker
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
    """Return events a second of one rush, recorded and then copied."""
    with portal_on_trial.a_rush(students, students * SEATS // CLASS, seats=CLASS) as term:
        fill_journal(portal_on_trial.rush_of(term, students))
        with database, database.cursor() as cursor:
            _empty(cursor)
        took = seconds(lambda: drain(term, seconds=3600))
        events = checkpoint(term)
        return events / took, events / raw_seconds(database, events)


def fill_journal(rush: Rush) -> None:
    """Have the ledger decide the claims of a rush, for seats and waitlist positions."""
    for batch in batches(wishes(rush)):
        backend().ledger.library.ask_all("submit", rush.term, batch)


def raw_seconds(database: Any, events: int) -> float:
    """Return the seconds in which COPY inserts the rows of the tables once more."""
    transactions = -(-events // BATCH)
    with database, database.cursor() as cursor:
        loads = [_load(cursor, table, order, transactions) for table, order in TABLES.items()]
        _empty(cursor)
    return seconds(lambda: raw_inserts.insert(database, loads))


def jobs_a_second(database: Any, url: str, count: int) -> float:
    """Return how many enrollments one worker records a second with one job each."""
    with database, database.cursor() as cursor:
        cursor.execute(JOBS_OF, {"count": count})
        jobs = [(row[:COLUMNS], row[COLUMNS:]) for row in cursor.fetchall()]
        _empty(cursor, "events", "enrollments")
    redis = backend().redis
    redis.config_set("appendfsync", "everysec")  # the usual setting for a queue
    job_per_claim.connect(url)
    job_per_claim.enqueue(redis, jobs)
    took = seconds(lambda: job_per_claim.work(redis))
    with database, database.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM enrollments")
        if cursor.fetchone() != (len(jobs),):
            raise SystemExit("Some jobs were not done.")
    return len(jobs) / took


def _load(cursor: Any, table: str, order: str, transactions: int) -> Load:
    cursor.execute(f"SELECT * FROM {table} ORDER BY {order}")  # noqa: S608
    rows = cursor.fetchall()
    columns = tuple(each.name for each in cursor.description)
    return Load(table, columns, rows, -(-len(rows) // transactions))


def _empty(cursor: Any, *tables: str) -> None:
    cursor.execute(
        "SET LOCAL session_replication_role = replica"
    )  # else a trigger protects the log
    cursor.execute(f"TRUNCATE {', '.join(tables or TABLES)}")
