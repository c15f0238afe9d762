"""CSV files that every spreadsheet opens, with no cell that it takes for a formula."""

import csv
import re
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator, Sequence
from io import StringIO
from itertools import islice

# Characters that begin a formula, in every width that spreadsheets know, after spaces, apostrophes
# and invisible characters, which they skip; and the characters that end a cell.
SIGNS = "=+\\-@\uff1d\uff0b\uff0d\uff20\ufe66\ufe62\ufe63\ufe6b\u207c\u207a\u207b\u2212"
SKIPPED = r"['\s\x00-\x1f\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]*"
FORMULA = re.compile(rf"['\x20]*[\t\r\n]|{SKIPPED}[{SIGNS}]")
AT_ONCE = 500  # rows
# Items of a cell stand between bars. A bar or backslash of an item has a backslash before it.
ITEM = re.compile(r"(?:\\[|\\]|[^|])+")
ESCAPED = re.compile(r"\\([|\\])")
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
