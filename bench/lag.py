"""Time from a claim's decision until it is in PostgreSQL, at half of the maximum throughput.

Measured from outside: the benchmark reads the recorder's checkpoint continuously, so a transaction
counts when it is committed, not when it begins.
"""

import time
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from statistics import quantiles
from threading import Event, Thread

from sqlalchemy import select

from bench import load, portal_on_trial
from bench.site import Site, site
from portal.core.checkpoints import checkpoint
from portal.core.db import transaction
from portal.recorder import models
from portal.recorder.journal import last_seq

CONNECTIONS = 32
STUDENTS, QUICK_STUDENTS, EACH = 1500, 40, 3
LOOK = 0.01  # seconds between two reads of the checkpoint
FIGURES = {
    "lag_claims_per_s": ("1/s", "claims a second meanwhile: half of the rate measured just before"),
    "lag_p50_s": ("s", "median time from the decision until a claim is in PostgreSQL"),
    "lag_p99_s": ("s", "99th percentile of the time until a claim is in PostgreSQL"),
}


def figures(_: int = 0, *, quick: bool = False) -> dict[str, float]:
    """Return the figures above."""
    students = QUICK_STUDENTS if quick else STUDENTS
    here = site(quick=quick)
    with here.web() as port:
        with portal_on_trial.a_rush(students) as term:
            most = rush(here, port, term, students).rate
        with portal_on_trial.a_rush(students) as term:
            watch = Watch(term)
            rate = rush(here, port, term, students, most / 2).rate
            lags = watch.lags()
    hundredths = quantiles(lags, n=100)
    return {
        "lag_claims_per_s": rate,
        "lag_p50_s": hundredths[49],
        "lag_p99_s": hundredths[98],
    }


def rush(here: Site, port: int, term: int, students: int, rate: float = 0.0) -> load.Report:
    """Send all claims, `rate` a second, or as fast as they are answered if it is 0."""
    wishes = portal_on_trial.claims(here.app, term, students, EACH)
    report = load.run(port, paced(wishes, rate) if rate else wishes, CONNECTIONS)
    if set(report.statuses) != {200}:
        raise SystemExit(f"Some claims failed: {dict(report.statuses)}")
    return report


def paced(requests: Sequence[bytes], rate: float) -> Iterator[bytes]:
    """Yield each request when it is due; late ones immediately."""
    begun = time.monotonic()
    for number, request in enumerate(requests):
        time.sleep(max(0.0, begun + number / rate - time.monotonic()))
        yield request


class Watch:
    """Thread that notes when a term's checkpoint moves."""

    def __init__(self, term: int) -> None:
        self.term = term
        self.seen: list[tuple[int, float]] = [(checkpoint(term), time.time())]  # seq, when
        self._enough = Event()
        self._thread = Thread(target=self._look_on, daemon=True)
        self._thread.start()

    def lags(self) -> list[float]:
        """Wait until all decisions are recorded; return the lag of each in seconds.

        Raise SystemExit if the thread has ended before.
        """
        first, last = self.seen[0][0], last_seq(self.term)
        while self.seen[-1][0] < last:
            if not self._thread.is_alive():
                raise SystemExit("The thread that reads the checkpoint has ended.")
            time.sleep(LOOK)
        self._enough.set()
        self._thread.join()
        event = models.LoggedEvent
        decided = select(event.seq, event.occurred_at).where(event.term_id == self.term)
        with transaction() as session:
            found = session.execute(decided.where(event.seq > first)).all()
        return [self._when(seq) - at.timestamp() for seq, at in found]

    def _when(self, seq: int) -> float:
        return self.seen[bisect_left(self.seen, (seq, 0.0))][1]

    def _look_on(self) -> None:
        while not self._enough.wait(LOOK):
            now = checkpoint(self.term)
            if now > self.seen[-1][0]:
                self.seen.append((now, time.time()))
