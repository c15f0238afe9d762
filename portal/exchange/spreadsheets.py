"""CSV files and workbooks that every spreadsheet opens, with no cell taken for a formula."""

import csv
import re
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator, Mapping, Sequence
from io import StringIO
from itertools import islice
from typing import Any, BinaryIO

from openpyxl import Workbook
from openpyxl.cell import WriteOnlyCell

# Characters that begin a formula, in every width that spreadsheets know, after spaces, apostrophes
# and invisible characters, which they skip; and the characters that end a cell.
SIGNS = "=+\\-@\uff1d\uff0b\uff0d\uff20\ufe66\ufe62\ufe63\ufe6b\u207c\u207a\u207b\u2212"
SKIPPED = r"['\s\x00-\x1f\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]*"
FORMULA = re.compile(rf"['\x20]*[\t\r\n]|{SKIPPED}[{SIGNS}]")
AT_ONCE = 500  # rows
# Items of a cell stand between bars. A bar or backslash of an item has a backslash before it.
ITEM = re.compile(r"(?:\\[|\\]|[^|])+")
ESCAPED = re.compile(r"\\([|\\])")
# A cell of a workbook can't hold longer texts, most control characters, and `_x0041_`: that stands
# for a character.
MOST_IN_CELL = 32_000  # characters
NOT_IN_CELLS = re.compile(r"[\x00-\x08\x0b-\x1f\ud800-\udfff\ufffe\uffff]|_x[0-9A-Fa-f]{4}_")
Row = Sequence[object]


def plain(cell: object) -> object:
    """Return the cell, with an apostrophe before a text that a spreadsheet takes for a formula.

    A text that has apostrophes before a formula gets one more, so that `unescaped` gives it back.
    """
    return f"'{cell}" if isinstance(cell, str) and FORMULA.match(cell) else cell


def unescaped(cell: str) -> str:
    """Return the text that `plain` made this cell of."""
    return cell[1:] if cell.startswith("'") and FORMULA.match(cell) else cell


def listed(items: Sequence[str], unclear: re.Pattern[str]) -> str:
    """Return the items as one cell, which `items_of` reads.

    If `unclear` matches in a single item, the cell ends with a bar: then no reader splits it.
    """
    cell = "|".join(re.sub(r"[|\\]", r"\\\g<0>", item) for item in items)
    return f"{cell}|" if len(items) == 1 and unclear.search(cell) else cell


def items_of(cell: str) -> list[str]:
    """Return the items of a cell that bars separate; blank ones are left out."""
    items = (ESCAPED.sub(r"\1", item).strip() for item in ITEM.findall(cell))
    return [item for item in items if item]


def csv_pieces(rows: Iterable[Row]) -> Iterator[bytes]:
    """Yield a CSV file in UTF-8 with a BOM, some rows at a time."""
    yield BOM_UTF8
    left = iter(rows)
    while some := list(islice(left, AT_ONCE)):
        text = StringIO()
        csv.writer(text).writerows(map(plain, row) for row in some)
        yield text.getvalue().encode(errors="backslashreplace")


def write_sheets(sheets: Mapping[str, Iterable[Row]], out: BinaryIO) -> None:
    """Write a workbook of these sheets. All texts stay as they are, whatever they look like."""
    book = Workbook(write_only=True)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        sheet.freeze_panes = "A2"
        for row in rows:
            sheet.append([_cell(sheet, value) for value in row])
    book.save(out)


def _cell(sheet: Any, value: object) -> object:
    """Return a text as a cell of the format "Text", in which an edited value stays text too.

    A text that no workbook can hold is left blank, so that an import keeps what the portal has.
    """
    if not isinstance(value, str) or not value:
        return value
    fits = len(value) <= MOST_IN_CELL and not NOT_IN_CELLS.search(value)
    cell = WriteOnlyCell(sheet, str(plain(value)) if fits else "")
    cell.data_type, cell.number_format = "s", "@"
    return cell
