"""How long after its answer a claim is in PostgreSQL, while claims run at half the most there is.

Seen from outside: how far the record has come is looked up all the time, so a transaction counts
when it has been committed and not when it began.
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
LOOK = 0.01  # seconds from one look to the next
FIGURES = {
    "lag_claims_per_s": ("1/s", "claims meanwhile: half of what the portal has just answered"),
    "lag_p50_s": ("s", "from the decision until half of them are in PostgreSQL"),
    "lag_p99_s": ("s", "the same for 99 of 100"),
}


def figures(_: int = 0, *, quick: bool = False) -> dict[str, float]:
    """The figures above."""
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
    """The claims of everyone, so many a second, or as many as are answered."""
    wishes = portal_on_trial.claims(here.app, term, students, EACH)
    report = load.run(port, paced(wishes, rate) if rate else wishes, CONNECTIONS)
    if set(report.statuses) != {200}:
        raise SystemExit(f"Not every claim was answered well: {dict(report.statuses)}")
    return report


def paced(requests: Sequence[bytes], rate: float) -> Iterator[bytes]:
    """The requests when they are due; those that are late at once."""
    begun = time.monotonic()
    for number, request in enumerate(requests):
        time.sleep(max(0.0, begun + number / rate - time.monotonic()))
        yield request


class Watch:
    """Looks how far a term has been recorded."""

    def __init__(self, term: int) -> None:
        self.term = term
        self.seen: list[tuple[int, float]] = [(checkpoint(term), time.time())]  # seq, when
        self._enough = Event()
        self._thread = Thread(target=self._look_on, daemon=True)
        self._thread.start()

    def lags(self) -> list[float]:
        """Seconds from each decision until it was seen, once all have been.

        Stops where nobody looks on any more.
        """
        first, last = self.seen[0][0], last_seq(self.term)
        while self.seen[-1][0] < last:
            if not self._thread.is_alive():
                raise SystemExit("Nobody looks how far the term has been recorded.")
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
