"""`make bench`: measure everything, and write bench/results.json and docs/benchmarks.md.

`python -m bench claims pages` measures only these subjects and prints the results.
"""

import argparse
import json
import os
import sys
import tempfile
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT)]

from bench import report, subjects  # noqa: E402
from bench.figures import Figures  # noqa: E402


def main() -> int:
    """Measure and print; return exit status 1 if any figure failed or was not measured."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("subject", nargs="*", help="subjects to measure; default: all")
    options.add_argument("--runs", type=int, default=subjects.RUNS, help="runs of each subject")
    options.add_argument("--quick", action="store_true", help="a small version, under a minute")
    options.add_argument("--json", type=Path, help="write the results to this file")
    arguments = options.parse_args()
    if arguments.quick:
        os.environ["WEB_CONCURRENCY"] = "1"
    if arguments.json:
        keep = partial(put, arguments.json)
        subjects.measured(arguments.subject, arguments.runs, quick=arguments.quick, keep=keep)
        return 0
    began = report.circumstances(ROOT)
    found: Figures
    if arguments.subject:
        found = subjects.measured(arguments.subject, arguments.runs, quick=arguments.quick)
    else:
        with tempfile.TemporaryDirectory() as folder:
            measured = subjects.all_measured(Path(folder), arguments.runs, quick=arguments.quick)
            found = report.with_every_bar(measured)
    report.say(found)
    if not arguments.subject and not arguments.quick:
        report.write(ROOT, found, began)
    return int(any("failed" in each for each in found.values()))


def put(path: Path, found: Figures) -> None:
    """Write the file atomically, because this process may be killed meanwhile."""
    new = path.with_suffix(".new")
    new.write_text(json.dumps(found))
    new.replace(path)


if __name__ == "__main__":
    sys.exit(main())
