"""Tables as CSV files that every spreadsheet opens and none takes for formulas."""

import csv
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator, Sequence
from io import StringIO
from itertools import islice

from flask import Response

BEGINS_A_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
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
    """The cell, a text with an apostrophe before it where a spreadsheet would reckon with it."""
    formula = isinstance(cell, str) and cell.lstrip(" ").startswith(BEGINS_A_FORMULA)
    return f"'{cell}" if formula else cell


def _pieces(rows: Iterable[Row]) -> Iterator[bytes]:
    yield BOM_UTF8
    left = iter(rows)
    while some := list(islice(left, AT_ONCE)):
        text = StringIO()
        csv.writer(text).writerows(map(plain, row) for row in some)
        yield text.getvalue().encode()
