"""`make faults`: every fault during a rush, and whether all that was told holds.

`--short` runs a few in one rush on `fairseat up` and writes nothing; else each runs on
`fairseat cluster`, and their table is written to docs/reliability.md after each.
"""

import argparse
import signal
import sys
from contextlib import nullcontext
from pathlib import Path

from tests.faults import table
from tests.faults.checker import Verdict
from tests.faults.disks import apart, mountable, mounted
from tests.faults.faults import CLUSTER, FAULTS, UP, Fault
from tests.faults.row import Row, run
from tests.faults.trial import PATIENCE, Disks, Trial, running

ROUNDS = 3


def main() -> int:
    """Run what is asked for; 1 where something was lost."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--short", action="store_true")
    options.add_argument("--rounds", type=int, default=0)
    options.add_argument("--only", default="", help="faults whose name has this in it")
    options.add_argument("--students", type=int, default=6)
    options.add_argument("--keep", type=Path, help="a folder for the histories")
    asked = options.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("Ended from outside."))  # all is undone
    own_disks = not asked.short and mountable()
    if own_disks:
        apart(sys.argv[1:])
    where = UP if asked.short else CLUSTER
    faults = [each for each in FAULTS if where in each.on and asked.only in each.name]
    if not own_disks:
        faults = [each for each in faults if not each.disks]
    rounds = asked.rounds or (1 if asked.short else ROUNDS)
    together = [tuple(faults)] if asked.short else [(each,) for each in faults]
    rows: list[Row] = []
    disks: Disks = mounted if own_disks else lambda _: nullcontext()
    with running(where, asked.students, disks) as trial:
        for number in range(1, rounds + 1):
            for those in together:
                rows.append(_row(trial, those, number, asked.keep))
                if not (asked.short or asked.only):
                    table.write(rows)
    return not all(row.green for row in rows)


def _row(trial: Trial, faults: tuple[Fault, ...], number: int, keep: Path | None) -> Row:
    name = ", ".join(fault.name for fault in faults)
    if keep:
        keep.mkdir(parents=True, exist_ok=True)
    file = keep / f"{number} {name}.jsonl" if keep else None
    try:
        row = run(trial, faults, file)
    except TimeoutError as late:
        row = Row(name, 0, 0, 0, PATIENCE, PATIENCE, PATIENCE, Verdict(odd=[str(late)]))
    print(row.told(), flush=True)
    return row


if __name__ == "__main__":
    sys.exit(main())
