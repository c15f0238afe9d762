"""Workbooks of Excel and OpenDocument: each sheet is read like a CSV file of its name.

`python -m portal.exchange.importing.workbooks FILE FOLDER` runs in a process of its own, with
limits of memory and time, because a small workbook can unpack to anything. It writes the sheets
into the folder and prints their names as a JSON list.
"""

import csv
import json
import logging
import os
import resource
import subprocess
import sys
from datetime import date, datetime, time
from pathlib import Path, PurePath
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from python_calamine import (
    CalamineError,
    CalamineWorkbook,
    SheetTypeEnum,
    SheetVisibleEnum,
)

from portal.core.i18n import _k
from portal.exchange.importing.failures import ImportFailedError

log = logging.getLogger(__name__)

SUFFIXES = {".xlsx", ".ods"}
MEMORY = 2**30  # bytes
CPU = 60  # seconds
SECONDS = 120.0
MOST_TEXT = 2**27  # bytes of all sheets as CSV
MOST_SHEETS = 100
# Within a cell, so that the lines of the CSV file are the rows of the sheet.
LINE_BREAK = "\u2028"
UNREADABLE, TOO_LARGE = 2, 3  # exit statuses


def is_workbook(name: str) -> bool:
    """Return whether a file's name is that of a workbook."""
    return PurePath(name).suffix.lower() in SUFFIXES


class Sheet(NamedTuple):
    """A sheet as a CSV file: its name as such a file, its name for people, and its content."""

    file: str
    shown: str
    content: bytes


def read_sheets(name: str, content: bytes) -> list[Sheet]:
    """Return the visible sheets of a workbook. Raise ImportFailedError.

    The only sheet of a workbook has the workbook's name, several have their own: `sections.csv`.
    """
    with TemporaryDirectory(prefix="fairseat-workbook-") as folder:
        file = Path(folder) / "workbook"
        file.write_bytes(content)
        command = [sys.executable, "-m", __name__, str(file), folder]
        try:
            done = subprocess.run(  # noqa: S603  our own module
                command, capture_output=True, timeout=SECONDS, check=False, env={"PATH": os.defpath}
            )
        except subprocess.TimeoutExpired:
            raise _too_large(name) from None
        if done.returncode == UNREADABLE:
            text = _k("%(file)s is not a readable workbook. Save it again, or as CSV.")
            raise ImportFailedError(text, file=name)
        if done.returncode:  # also if a limit ended it
            log.warning("A workbook was not read: %s", done.stderr[-500:].decode(errors="replace"))
            raise _too_large(name)
        sheets = json.loads(done.stdout)
        tables = [(Path(folder) / f"{at}.csv").read_bytes() for at in range(len(sheets))]
    alone = len(sheets) == 1
    shown = [name] if alone else [f"{name} ({each})" for each in sheets]
    names = [PurePath(name).stem] if alone else sheets
    names = ["_".join(each.lower().split()) + ".csv" for each in names]
    if len(set(names)) < len(names):
        raise ImportFailedError(_k("%(file)s has two sheets of the same name."), file=name)
    return [Sheet(*each) for each in zip(names, shown, tables, strict=True)]


def _too_large(name: str) -> ImportFailedError:
    text = _k("%(file)s is too large for a workbook. Save its sheets as CSV.")
    return ImportFailedError(text, file=name)


# In the process of its own


def main() -> None:
    """Write the visible sheets of a workbook as CSV files, and print their names."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU, CPU))
    resource.setrlimit(resource.RLIMIT_FSIZE, (MOST_TEXT, MOST_TEXT))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        workbook = CalamineWorkbook.from_path(sys.argv[1])
        names = [
            each.name
            for each in workbook.sheets_metadata
            if each.visible == SheetVisibleEnum.Visible and each.typ == SheetTypeEnum.WorkSheet
        ]
        filled: list[str] = []
        size = 0
        for at, name in enumerate(names):
            rows = workbook.get_sheet_by_name(name).to_python(skip_empty_area=False)
            path = Path(sys.argv[2]) / f"{len(filled)}.csv"
            _write(path, rows)
            size += path.stat().st_size
            if size > MOST_TEXT or at >= MOST_SHEETS:
                sys.exit(TOO_LARGE)
            if path.stat().st_size or (name == names[-1] and not filled):
                filled.append(name)
    except (MemoryError, OSError):
        sys.exit(TOO_LARGE)
    except (CalamineError, ValueError):
        sys.exit(UNREADABLE)
    print(json.dumps(filled))  # noqa: T201


def _write(path: Path, rows: list[list[Any]]) -> None:
    """Write a sheet as CSV, without columns that are blank to its end; its lines are the rows."""
    width = max((at + 1 for row in rows for at, cell in enumerate(row) if cell != ""), default=0)
    with path.open("w", encoding="utf-8", errors="replace", newline="") as out:
        csv.writer(out).writerows(_cells(row, width) for row in rows)


def _cells(row: list[Any], width: int) -> list[str]:
    """Return the texts of a row's cells; none if all are blank."""
    cells = list(map(_text, row[:width]))
    return cells if any(cells) else []


def _text(cell: Any) -> str:
    """Return a cell as people would type it."""
    match cell:
        case bool():
            return "Y" if cell else "N"
        case float() if cell.is_integer():
            return str(int(cell))
        case datetime() if cell.time() == time():
            return cell.date().isoformat()
        case time():
            return f"{cell:%H:%M}"
        case date():
            return cell.isoformat()
        case _:
            return str(cell).replace("\r\n", "\n").replace("\n", LINE_BREAK)


if __name__ == "__main__":
    main()
