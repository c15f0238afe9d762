"""Time and memory of a large import: `python bench/imports.py [users] [seats]`.

With `seats`, the file also has that many enrollments of these users, in classes of 100.
"""

import io
import json
import resource
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench import stage
from portal import backend, subscribers
from portal.core.settings import Settings
from portal.exchange.importing.models import Options
from portal.exchange.importing.oneroster import COLUMNS
from portal.exchange.importing.oneroster_fields import METADATA
from portal.exchange.importing.report import Report
from portal.exchange.importing.runs import import_files
from portal.recorder.recorder import drain

USERS, SEATS = 200_000, 0
CLASS = 100  # seats


def main() -> None:
    """Import generated students, then the same file again, and print time and memory."""
    count, seats = (int(each) for each in (*sys.argv[1:], *(USERS, SEATS)[len(sys.argv) - 1 :]))
    with ExitStack() as stack:
        stage.servers(stack)
        subscribers.connect()
        backend.connect(Settings.read())
        path = Path(stack.enter_context(tempfile.TemporaryDirectory())) / "roster.zip"
        generate(path, count, seats)
        size = path.stat().st_size / 2**20
        print(f"{count:,} students, {seats:,} seats, {size:.1f} MB packed")
        before = peak()
        for name, dry in (("dry run", True), ("import", False), ("the same again", False)):
            began, steps = time.monotonic(), dict[str, float]()
            done = import_files(
                path,
                Options(layout="oneroster"),
                Report(),
                lambda step, *_, steps=steps: steps.setdefault(step, time.monotonic()),
                dry=dry,
            )
            ends = time.monotonic()
            recorded = sum(drain(term, seconds=3600) for term in done.terms)
            if recorded:
                print(f"{recorded:,} events recorded in {time.monotonic() - ends:.1f} s")
            seated = f", seats {ends - steps['enrolling']:.1f} s" if "enrolling" in steps else ""
            counts = {kind: done.counts.get(kind) for kind in ("student", "enrollment")}
            print(
                f"{name}: {ends - began:.1f} s{seated}, peak {peak():.0f} MB ({before:.0f} before)"
            )
            print(f"  {counts}")


def generate(path: Path, count: int, seats: int) -> None:
    """Write a zip file with `count` students and `seats` enrollments."""
    files: dict[str, Iterable[str]] = {"users": users(count), "roles": roles(count)}
    if seats:
        classes = -(-seats // CLASS)
        files |= {
            "orgs": ["cs,,,Computing,department,CS,\n"],
            "academicSessions": ["t,,,Fall 2030,semester,2030-08-31,2030-12-18,,2031\n"],
            "courses": (f"c{each},,,,Course {each},CS-{each},,cs,,\n" for each in range(classes)),
            "classes": (
                f"{each},,,Course {each},,c{each},,,,,t,,,,{open_()}\n" for each in range(classes)
            ),
            "enrollments": enrollments(count, seats),
        }
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        modes = "".join(f"file.{file},bulk\n" for file in files)
        packed.writestr("manifest.csv", f"propertyName,value\noneroster.version,1.2\n{modes}")
        for file, lines in files.items():
            with packed.open(f"{file}.csv", "w") as entry, io.TextIOWrapper(entry) as out:
                more = [METADATA] if file == "classes" else []
                out.write(",".join([*COLUMNS[file].split(), *more]) + "\n")
                out.writelines(lines)


def open_() -> str:
    """Return the last cell of an open class, quoted for CSV."""
    fields = json.dumps({"status": "OPEN", "capacity": CLASS, "credits": [100, 100]})
    return '"' + fields.replace('"', '""') + '"'


def enrollments(count: int, seats: int) -> Iterator[str]:
    for number in range(seats):
        yield f"e{number},,,{number // CLASS},,u{number % count},student,,,\n"


def users(count: int) -> Iterator[str]:
    for number in range(count):
        name = f"Given{number},Family{number}"
        yield f"u{number},,,true,user{number},,{name},,N{number},u{number}@example.edu{',' * 11}\n"


def roles(count: int) -> Iterator[str]:
    for number in range(count):
        yield f"r{number},,,u{number},primary,student,,,org,\n"


def peak() -> float:
    """Return this process's peak memory in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
