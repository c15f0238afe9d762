"""Tables as CSV files that every spreadsheet opens and none takes for formulas."""

import csv
import re
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator, Sequence
from io import StringIO
from itertools import islice

from flask import Response

# Signs that a formula begins with, in every width that spreadsheets know, after any spaces,
# apostrophes and invisible signs, which they skip; and the signs that end a cell.
SIGNS = "=+\\-@\uff1d\uff0b\uff0d\uff20\ufe66\ufe62\ufe63\ufe6b\u207c\u207a\u207b\u2212"
SKIPPED = r"['\s\x00-\x1f\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]*"
FORMULA = re.compile(rf"['\x20]*[\t\r\n]|{SKIPPED}[{SIGNS}]")
AT_ONCE = 500  # rows
Row = Sequence[object]


def download(name: str, rows: Iterable[Row]) -> Response:
    """The rows as a file to keep, in UTF-8, marked for spreadsheets.

    They are sent as they come, after the request is over: nothing in them may ask for it.
    """
    answer = Response(_pieces(rows), mimetype="text/csv")
    answer.headers.set("Content-Disposition", "attachment", filename=name)
    answer.cache_control.no_store = True  # it is about people
    return answer


def plain(cell: object) -> object:
    """Return the cell, with an apostrophe before a text that a spreadsheet takes for a formula.

    A text that has apostrophes before a formula gets one more, so that `unescaped` gives it back.
    """
    return f"'{cell}" if isinstance(cell, str) and FORMULA.match(cell) else cell


def unescaped(cell: str) -> str:
    """Return the text that `plain` made this cell of."""
    return cell[1:] if cell.startswith("'") and FORMULA.match(cell) else cell


def _pieces(rows: Iterable[Row]) -> Iterator[bytes]:
    yield BOM_UTF8
    left = iter(rows)
    while some := list(islice(left, AT_ONCE)):
        text = StringIO()
        csv.writer(text).writerows(map(plain, row) for row in some)
        yield text.getvalue().encode()
