"""Real enrollment curves of a spring quarter, in the form of our tallies."""

import csv
import gzip
import os
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

from portal.core.settings import ROOT
from portal.recorder.odds import HOUR, FreedSeats, Moves, Tally

DATA = Path(os.environ.get("FAIRSEAT_DATA") or ROOT.parent / "shared" / "data")
FOLDER = DATA / "ucsd-trace"
NO_LIMIT = 9999

Row = tuple[float, int, int, int]  # moment (s since 1970), enrolled, waiting, capacity


@dataclass(frozen=True)
class Curve:
    """One section over time; `dropped` has the moments and numbers of dropped seats."""

    rows: list[Row]
    dropped: list[tuple[float, int]]

    def waiting(self, at: float) -> int:
        """Return the students on the waitlist at a moment."""
        seen = bisect_right(self.rows, (at, NO_LIMIT, NO_LIMIT, NO_LIMIT))
        return self.rows[seen - 1][2] if seen else 0

    def freed(self, after: float, until: float) -> int:
        """Return the seats dropped between two moments."""
        return sum(seats for at, seats in self.dropped if after < at <= until)

    def tally(self, until: float) -> Tally:
        """Return the tally that our portal would have until a moment."""
        hours: dict[int, Moves] = defaultdict(Moves)
        held, dropped = 0, dict(self.dropped)
        for at, enrolled, _, _ in self.rows:
            if at > until:
                break
            net, held = enrolled - held, enrolled
            moves = Moves(net, net * at, dropped.get(at, 0))
            hours[int(at // HOUR)] = hours[int(at // HOUR)].plus(moves)
        return Tally(dict(hours))


def curves() -> list[Curve]:
    """Return every section that always had a limit."""
    found: dict[str, list[Row]] = defaultdict(list)
    with gzip.open(FOLDER / "ucsd_sp22_sections.csv.gz", "rt") as file:
        for row in csv.DictReader(file):
            at = datetime.fromisoformat(row["time"]).replace(tzinfo=UTC).timestamp()
            counts = int(row["enrolled"]), int(row["waitlisted"]), int(row["total"])
            found[row["section"]].append((at, *counts))
    limited = (rows for rows in found.values() if all(0 < row[3] < NO_LIMIT for row in rows))
    return [Curve(rows, list(_drops(rows))) for rows in limited]


def seen(curves: list[Curve], at: float) -> FreedSeats:
    """Return all sections as a term, numbered by their place in the list."""
    tallies = {number: curve.tally(at) for number, curve in enumerate(curves)}
    term = Tally()
    for tally in tallies.values():
        term = term.plus(tally.hours)
    return FreedSeats(1, term, tallies)


def _drops(rows: list[Row]) -> Iterator[tuple[float, int]]:
    """Return dropped seats; unknown where the capacity changed too (see SOURCE.md there)."""
    for (_, before, _, capacity), (at, after, _, now) in pairwise(rows):
        if capacity == now and after < before:
            yield at, before - after
