"""`make faults`: every fault during a rush, and whether every answer stays true.

`--short` runs a few in one rush on `fairseat up` and writes nothing; else each runs on
`make cluster`, or on a ledger in a Valkey Cluster. Its result goes to docs/faults.json and
docs/reliability.md at once. A run continues where the last one ended; `--again` runs faults again.
"""

import argparse
import signal
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

from tests.faults.checker import Verdict
from tests.faults.disks import apart, mountable, mounted
from tests.faults.faults import CLUSTER, FAULTS, SHARDS, UP, Fault
from tests.faults.run import Row, run
from tests.faults.table import Results
from tests.faults.trial import TIMEOUT, Disks, Trial, running

ROUNDS = 3


def main() -> int:
    """Run what is asked for; 1 where any row that is kept is not green."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--short", action="store_true")
    options.add_argument("--rounds", type=int, default=ROUNDS)
    options.add_argument(
        "--only", default="", help="faults whose name has one of these in it: `web,mail`"
    )
    options.add_argument(
        "--again", action="store_true", help="delete earlier results of these faults"
    )
    options.add_argument("--students", type=int, default=6)
    options.add_argument("--keep", type=Path, help="a folder for the histories and the logs")
    asked = options.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("Ended from outside."))  # all is undone
    own_disks = not asked.short and mountable()
    if own_disks:
        apart(sys.argv[1:])
    only = asked.only.split(",")
    chosen = [each for each in FAULTS if any(word in each.name for word in only)]
    possible = [each for each in chosen if own_disks or not each.disks]
    green = True
    for where in (UP,) if asked.short else (CLUSTER, SHARDS):
        faults = [each for each in possible if where in each.on]
        disks: Disks = mounted if own_disks and where == CLUSTER else nullcontext
        if faults:
            with running(where, asked.students, disks, asked.keep) as trial:
                if asked.short:
                    return not _row(trial, faults, 1, asked.keep).green
                green = _rounds(trial, faults, asked)
    return not green


def _rounds(trial: Trial, faults: Sequence[Fault], asked: argparse.Namespace) -> bool:
    """Run what has not had its turn yet; whether all that is kept is green, of other runs too."""
    results = Results()
    results.read()
    if asked.again:
        results.forget(fault.name for fault in faults)
    for number in range(1, asked.rounds + 1):
        for fault in faults:
            if results.lacks(fault.name, number):
                results.add(_row(trial, [fault], number, asked.keep))
    return results.green


def _row(trial: Trial, faults: Sequence[Fault], number: int, keep: Path | None) -> Row:
    name = ", ".join(fault.name for fault in faults)
    if keep:
        keep.mkdir(parents=True, exist_ok=True)
    file = keep / f"{number} {name}.jsonl" if keep else None
    try:
        row = run(trial, faults, file)
    except TimeoutError as late:
        row = Row(name, 0, 0, 0, TIMEOUT, TIMEOUT, TIMEOUT, Verdict(odd=[str(late)]))
    print(row.summary(), flush=True)
    return replace(row, round=number)


if __name__ == "__main__":
    sys.exit(main())
