"""Write the sheets of a workbook as CSV files.

`python -m portal.exchange.importing.workbook_sheets FILE FOLDER` runs in a process of its own, with
limits of memory and time, because a small workbook can unpack to anything. It writes the sheets
into the folder and prints their names as a JSON list. It imports nothing else of the portal, which
would take three times as long as to read most workbooks.
"""

import csv
import json
import resource
import sys
from datetime import date, datetime, time
from pathlib import Path
from typing import Any

from python_calamine import CalamineError, CalamineWorkbook, SheetTypeEnum, SheetVisibleEnum

MEMORY = 2**30  # bytes
CPU = 60  # seconds
MOST_TEXT = 2**27  # bytes of all sheets as CSV
MOST_SHEETS = 100
# Within a cell, so that the lines of the CSV file are the rows of the sheet.
LINE_BREAK = "\u2028"
UNREADABLE, TOO_LARGE = 2, 3  # exit statuses


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
