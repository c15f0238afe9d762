"""Tables as files: every file that leaves opens in a spreadsheet, and none acts there."""

import csv
from io import StringIO

import pytest

from portal.spreadsheets import AT_ONCE, download, plain


@pytest.mark.parametrize("cell", ["=1+1", "+1", "-1", "@a", " =1", "\t=1", "\r=1", "\n=1"])
def test_what_a_spreadsheet_would_reckon_with_stays_text(cell: str) -> None:
    assert plain(cell) == f"'{cell}"


def test_numbers_stay_numbers() -> None:
    assert [plain(cell) for cell in (-1, 2.5, None, "a-1")] == [-1, 2.5, None, "a-1"]


def test_all_rows_arrive_in_utf_8_with_its_mark() -> None:
    rows = [["Ñ", number] for number in range(2 * AT_ONCE + 1)]
    answer = download("rows.csv", iter(rows))
    told = answer.get_data().decode("utf-8-sig")
    assert answer.get_data().startswith(b"\xef\xbb\xbf")
    assert list(csv.reader(StringIO(told))) == [["Ñ", str(number)] for _, number in rows]


def test_it_is_a_file_that_no_cache_keeps() -> None:
    answer = download("rows.csv", [])
    assert answer.headers["Content-Disposition"] == "attachment; filename=rows.csv"
    assert answer.headers["Cache-Control"] == "no-store"
