"""Imports a folder as one term: read and checked first, then stored in one transaction."""

from dataclasses import dataclass, field
from pathlib import Path

from portal.catalog.imports.files import ImportFailed
from portal.catalog.imports.read import Options, Progress, read
from portal.catalog.imports.report import Report
from portal.catalog.imports.store import store

LONGEST_NAME = 80


@dataclass
class Imported:
    """What an import made, for the person who asked for it."""

    term: int
    sections: int
    courses: int
    report: Report = field(repr=False)


def import_semester(
    folder: Path, name: str, options: Options, report: Report, progress: Progress
) -> Imported:
    """Make a new term of a folder; raises ImportFailed, and then nothing was stored."""
    name = " ".join(name.split())
    if not name or len(name) > LONGEST_NAME or not name.isprintable():
        raise ImportFailed(f"A term's name has 1 to {LONGEST_NAME} signs.")
    semester = read(folder, options, report, progress)
    term = store(semester, name, options, report, progress)
    return Imported(term, len(semester.sections), len(semester.courses), report)
