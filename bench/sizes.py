"""Memory and disk space of a semester: `python bench/sizes.py`.

`python bench/sizes.py 5000 20000` measures terms with these numbers of students. Each student has
five seats and two waitlist positions, and everything is recorded. The load of the machine does not
change the figures, because they are sizes, not times.
"""

import secrets
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT)]

import psutil  # noqa: E402
from sqlalchemy import text  # noqa: E402

from bench import load, stage  # noqa: E402
from bench.stage import cli, free_port, patiently, started, web  # noqa: E402
from portal import backend as connections  # noqa: E402
from portal import subscribers  # noqa: E402
from portal.backend import backend  # noqa: E402
from portal.core.db import transaction  # noqa: E402
from portal.core.settings import Settings  # noqa: E402
from portal.operations.workers import workers  # noqa: E402
from portal.recorder import journal  # noqa: E402
from portal.recorder.recorder import drain  # noqa: E402
from portal.runtime.child_process import Child  # noqa: E402
from tests.recorder.rush import ENROLL_EVERYONE, Rush, a_rush  # noqa: E402

SEATS, WAITS, CLASS = 5, 2, 30
AT_ONCE = 2000  # claims in one round trip
LOGIN = b"GET /login HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
MB = 2**20


def main() -> None:
    """Print a table with a column for each number of students."""
    counts = [int(each) for each in sys.argv[1:]] or [5000]
    found = [of_a_semester(count) for count in counts]
    for what in found[0]:
        print(f"{what:<44}" + "".join(f"{column[what]:>12,.1f}" for column in found))
    with ExitStack() as stack:
        for what, size in of_processes(stack).items():
            print(f"{what:<44}{size:>12,.1f}")


def of_a_semester(students: int) -> dict[str, float]:
    """Return the sizes of a semester, measured on new servers."""
    with ExitStack() as stack:
        folder = stage.servers(stack)
        subscribers.connect()
        connections.connect(Settings.read())
        rush = a_rush(students * SEATS // CLASS, students, CLASS, CLASS)
        bare_ledger, bare_tables = ledger(), tables()
        for batch in batches(wishes(rush)):
            backend().ledger.library.ask_all("submit", rush.term, batch)
        waiting = ledger()
        events = drain(rush.term, seconds=3600)
        recorded = ledger()
        journal.trim(rush.term, events)
        bare = ledger()
        return {
            "students": students,
            "events": events,
            "ledger, MB: before recording": waiting,
            "ledger, MB: recorded, margin kept": recorded,
            "ledger, MB: without its journal": bare,
            "ledger, KB a student": (bare - bare_ledger) * 1024 / students,
            "journal, bytes an event": (waiting - bare) * MB / events,
            "journal, MB: its margin": recorded - bare,
            "append-only file and its base, MB": append_only(folder.path),
            "PostgreSQL, MB": tables(),
            "PostgreSQL, bytes an event": (tables() - bare_tables) * MB / events,
        }


def wishes(rush: Rush) -> list[dict[str, Any]]:
    """Return claims for five seats, then two waitlist positions per student, as pages send them."""
    count = len(rush.sections)
    return [
        {
            "student": student,
            "idempotency_key": secrets.token_hex(16),
            "credit_limit": ENROLL_EVERYONE,
            "windows": [rush.window],
            "choices": [{"alternatives": [[pick(rush.sections[at])]], "wait": True}],
            "actor": f"student:{student}",
            "correlation": secrets.token_hex(8),
        }
        for turn in range(SEATS + WAITS)
        for number, student in enumerate(rush.students)
        for at in [(number // CLASS + turn * count // (SEATS + WAITS)) % count]
    ]


def pick(section: int) -> dict[str, int]:
    """Return a choice of a section with three credits."""
    return {"section": section, "credits": 300}


def batches(requests: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """Split the claims into batches of AT_ONCE."""
    return [requests[at : at + AT_ONCE] for at in range(0, len(requests), AT_ONCE)]


def of_processes(stack: ExitStack) -> dict[str, float]:
    """Return the memory (MB) of each kind of process after some work."""
    folder = stage.servers(stack)
    subscribers.connect()
    connections.connect(Settings.read())
    port = free_port()
    node = started(stack, web(folder, "web", port, "wsgi:app", WEB_CONCURRENCY="1"))
    worker = started(stack, Child("record", cli("worker", "record"), folder.log("record")))
    scheduler = started(stack, Child("scheduler", cli("scheduler"), folder.log("scheduler")))
    patiently(node, lambda: load.run(port, [LOGIN] * 200, 8))
    patiently(worker, heard)
    return {
        "a web process, MB": sum(map(private, family(node)[1:])),
        "a worker, MB": private(family(worker)[0]),
        "the scheduler, MB": private(family(scheduler)[0]),
    }


def heard() -> None:
    """Raise ConnectionError until the worker has started."""
    if not workers(backend().redis):
        raise ConnectionError


def family(child: Child) -> list[psutil.Process]:
    """Return a process, followed by its descendants."""
    assert child.process
    first = psutil.Process(child.process.pid)
    return [first, *first.children(recursive=True)]


def private(process: psutil.Process) -> float:
    """Return the memory (MB) of a process that no other process shares."""
    return float(process.memory_full_info().uss) / MB


def ledger() -> float:
    """Return the ledger's memory in MB."""
    found: Any = backend().redis.info("memory")
    return float(found["used_memory"]) / MB


def append_only(folder: Path) -> float:
    """Return the size of the ledger's files on disk in MB."""
    files = (each for each in (folder / "valkey").rglob("*") if each.is_file())
    return sum(each.stat().st_size for each in files) / MB


def tables() -> float:
    """Return the size of the database in MB, including indexes."""
    with transaction() as session:
        return float(session.scalar(text("SELECT pg_database_size(current_database())")) or 0) / MB


if __name__ == "__main__":
    main()
