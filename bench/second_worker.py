"""`python bench/second_worker.py`: what a second worker gains, queue by queue.

Each row does the same work with one worker and with two, on servers of its own, in turns. It prints
the medians and their ratio: near 2 where a second worker helps, near 1 where it can't. Jobs that
wait for something outside (mail) gain also on few cores; work of the processor needs cores.
"""

import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT)]

from rq import Queue  # noqa: E402
from rq.serializers import JSONSerializer  # noqa: E402
from sqlalchemy import select  # noqa: E402

from bench import portal_on_trial, stage  # noqa: E402
from bench.stage import cli  # noqa: E402
from portal import backend as connections  # noqa: E402
from portal.backend import backend  # noqa: E402
from portal.core.checkpoints import checkpoint  # noqa: E402
from portal.core.db import transaction  # noqa: E402
from portal.core.queue import enqueue  # noqa: E402
from portal.core.settings import Settings  # noqa: E402
from portal.operations import workers  # noqa: E402
from portal.people.models import Student  # noqa: E402
from portal.recorder.journal import last_seq  # noqa: E402
from portal.runtime.child_process import Child  # noqa: E402
from tests.recorder.rush import Rush, claims  # noqa: E402

if TYPE_CHECKING:
    from portal.runtime.data_folder import DataFolder

RUNS, STUDENTS, SECTIONS, CLAIMS = 3, 1600, 40, 8
JOBS, JOB = 40, 0.1  # jobs that wait for something outside, and the seconds of each
PAUSE = 0.02

Work = Callable[[ExitStack], tuple[int, Callable[[], bool]]]


def recording(terms: int) -> Work:
    """Return work for recorders: the rush of so many terms, of the same size together."""

    def begin(stack: ExitStack) -> tuple[int, Callable[[], bool]]:
        rushed = [
            stack.enter_context(portal_on_trial.a_rush(STUDENTS, SECTIONS, seats=STUDENTS))
            for _ in range(terms)
        ]
        with transaction() as session:
            students = list(session.scalars(select(Student.id).limit(STUDENTS // terms)))
        for term in rushed:
            [window] = backend().ledger.windows(term)
            rush = Rush(term, sorted(backend().ledger.seats(term)), students, window.id)
            claims(rush, [(each, part) for each in students for part in rush.sections[:CLAIMS]])
        events = sum(last_seq(term) - checkpoint(term) for term in rushed)
        for term in rushed:
            enqueue(term, ["record"])
        return events, lambda: all(checkpoint(term) == last_seq(term) for term in rushed)

    return begin


def waiting(_stack: ExitStack) -> tuple[int, Callable[[], bool]]:
    """Return work that waits for something outside, as mail does."""
    queue = Queue("notify", connection=backend().redis, serializer=JSONSerializer)
    for _ in range(JOBS):
        queue.enqueue("time.sleep", JOB, result_ttl=0)
    return JOBS, lambda: not queue.count and not queue.started_job_registry.count


ROWS: dict[str, tuple[str, Work]] = {
    "record, one term": ("record", recording(1)),
    "record, two terms": ("record", recording(2)),
    "notify, waits for a mail server": ("notify", waiting),
}


@contextmanager
def crew(folder: "DataFolder", queue: str, count: int) -> Iterator[None]:
    """Run so many workers of a queue, idle at first."""
    children = [
        Child(f"{queue}-{number}", cli("worker", queue), folder.log(f"{queue}-{number}"))
        for number in range(count)
    ]
    for child in children:
        child.start()
    try:
        while _alive(queue) < count:
            time.sleep(PAUSE)
        yield
    finally:
        for child in children:
            child.stop(30)


def _alive(queue: str) -> int:
    return next(each.alive for each in workers.queues(backend().redis) if each.name == queue)


def rate(folder: "DataFolder", queue: str, work: Work, count: int) -> float:
    """Return events or jobs a second with so many workers."""
    with ExitStack() as stack, crew(folder, queue, count):
        amount, done = work(stack)
        began = time.monotonic()
        while not done():
            time.sleep(PAUSE)
        return amount / (time.monotonic() - began)


def main() -> None:
    """Measure each row, and print the medians and what the second worker gains."""
    with ExitStack() as stack:
        folder = stage.servers(stack)
        connections.connect(Settings.read())
        print(f"{'queue':34}{'one':>8}{'two':>8}{'gain':>7}")
        for name, (queue, work) in ROWS.items():
            found: dict[int, list[float]] = {1: [], 2: []}
            for turn in range(2 * RUNS):
                count = 1 + turn % 2
                found[count].append(rate(folder, queue, work, count))
            one, two = (statistics.median(found[count]) for count in (1, 2))
            print(f"{name:34}{one:6.0f}/s{two:6.0f}/s{two / one:7.2f}", flush=True)


if __name__ == "__main__":
    main()
