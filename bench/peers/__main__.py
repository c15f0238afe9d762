"""`make bench-peers`: pretix beside the portal, on one hot quota and on a page of 40 rows.

Installs pretix at first. Prints the table, and writes it to bench/peers/results.json and
docs/benchmarks.md. `--quick` checks that everything works and writes only to bench/out.
"""

import argparse
import json
import os
import secrets
import sys
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT)]

from bench import report  # noqa: E402
from bench.peers import installation, sides, table  # noqa: E402
from bench.peers.pretix_on_trial import Pretix  # noqa: E402
from bench.site import Site  # noqa: E402
from portal.backend import backend  # noqa: E402

RUNS = 3


def main() -> None:
    """Install, measure, print and write."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--runs", type=int, default=RUNS, help="runs of each side")
    options.add_argument("--quick", action="store_true", help="one small run, not for docs")
    arguments = options.parse_args()
    os.environ["WEB_CONCURRENCY"] = "2"
    size = sides.QUICK if arguments.quick else sides.Size()
    result = measured(1 if arguments.quick else arguments.runs, size)
    text = table.section(result)
    print(f"\n{text}")
    out = ROOT / "bench/out"
    out.mkdir(exist_ok=True)
    (out / "peers.md").write_text(f"{text}\n", encoding="utf-8")
    if not arguments.quick:
        write(result)


def measured(runs: int, size: sides.Size) -> dict[str, Any]:
    """Return the figures of all runs, with the circumstances, versions and set-up steps.

    A quick run does not set up the portal once more.
    """
    began = report.circumstances(ROOT)
    ours = []
    if size != sides.QUICK:
        say("Setting up the portal from its last commit.")
        ours = installation.fairseat()
    say("Installing pretix.")
    theirs = installation.install()
    with ExitStack() as stack:
        say("Migrating pretix's database and making its shops.")
        pretix = Pretix(stack)
        name = secrets.token_hex(4)
        shops = pretix.shop("make", name, 2 * runs, size.shoppers, size.places, sides.ROWS)
        here = Site(stack)
        found = []
        for run in range(runs):
            say(f"Run {run + 1} of {runs}.")
            found.append(sides.figures(run, here, pretix, shops, size))
        over = sum(max(0, taken - size.places) for taken in pretix.shop("sold", name))
        versions = shops["versions"] | data_servers()
        theirs += [*pretix.steps, *([pretix.start] if pretix.start else [])]
    figures = table.figures_of([{**each, "pretix_oversold": over} for each in found])
    steps = {"Fairseat": ours, "pretix": theirs}
    return {
        "began": began,
        "size": asdict(size),
        "versions": versions,
        "steps": {side: [asdict(each) for each in taken] for side, taken in steps.items()},
        "figures": figures,
    }


def data_servers() -> dict[str, str]:
    """Return the versions of the data servers."""
    with backend().engine.connect() as db:
        postgres = db.exec_driver_sql("SHOW server_version").scalar_one()
    info: Any = backend().redis.info("server")
    valkey = info.get("valkey_version") or info["redis_version"]
    return {"PostgreSQL": str(postgres), "Valkey": str(valkey)}


def write(result: dict[str, Any]) -> None:
    """Write the result and its section of the docs."""
    text = json.dumps(result, indent=2, ensure_ascii=False) + "\n"
    (ROOT / "bench/peers/results.json").write_text(text, encoding="utf-8")
    page = ROOT / "docs/benchmarks.md"
    old = page.read_text(encoding="utf-8")
    page.write_text(table.put(old, table.shown(ROOT / "bench")), encoding="utf-8")


def say(line: str) -> None:
    """Print a line at once."""
    print(line, flush=True)


if __name__ == "__main__":
    main()
