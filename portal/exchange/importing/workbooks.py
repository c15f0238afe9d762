"""Workbooks of Excel and OpenDocument: each sheet is read like a CSV file of its name."""

import csv
import io
from datetime import date, datetime, time
from pathlib import PurePath
from typing import Any

from python_calamine import (
    CalamineError,
    CalamineWorkbook,
    SheetTypeEnum,
    SheetVisibleEnum,
)

from portal.core.i18n import _k
from portal.exchange.importing.failures import ImportFailedError

SUFFIXES = {".xlsx", ".ods"}


def is_workbook(name: str) -> bool:
    """Return whether a file's name is that of a workbook."""
    return PurePath(name).suffix.lower() in SUFFIXES


def read_sheets(name: str, content: bytes) -> dict[str, bytes]:
    """Return the visible sheets as CSV files by name. Raise ImportFailedError.

    The only sheet of a workbook has the workbook's name, several have their own: `sections.csv`.
    """
    try:
        workbook = CalamineWorkbook.from_filelike(io.BytesIO(content))
        sheets = [
            each.name
            for each in workbook.sheets_metadata
            if each.visible == SheetVisibleEnum.Visible and each.typ == SheetTypeEnum.WorkSheet
        ]
        tables = {
            each: workbook.get_sheet_by_name(each).to_python(skip_empty_area=False)
            for each in sheets
        }
    except (CalamineError, OSError, ValueError):
        text = _k("%(file)s is not a readable workbook. Save it again, or as CSV.")
        raise ImportFailedError(text, file=name) from None
    if len(tables) == 1:
        return {f"{PurePath(name).stem}.csv": _csv(*tables.values())}
    names = ["_".join(each.lower().split()) + ".csv" for each in tables]
    if len(set(names)) < len(names):
        raise ImportFailedError(_k("%(file)s has two sheets of the same name."), file=name)
    return dict(zip(names, map(_csv, tables.values()), strict=True))


def _csv(rows: list[list[Any]]) -> bytes:
    """Return a sheet as CSV, without columns that are blank to its end; its lines are the rows."""
    width = max((at + 1 for row in rows for at, cell in enumerate(row) if cell != ""), default=0)
    out = io.StringIO()
    csv.writer(out).writerows(_cells(row, width) for row in rows)
    return out.getvalue().encode(errors="replace")


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
            return str(cell)
