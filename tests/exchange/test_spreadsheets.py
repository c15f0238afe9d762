"""Tables as files: every file that leaves opens in a spreadsheet, and none acts there."""

import csv
from io import StringIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from portal.exchange.spreadsheets import AT_ONCE, plain, unescaped
from portal.web.http.downloads import download

ODD = (
    "\uff1d1",
    "\uff0b1",
    "\uff0d1",
    "\uff20a",
    "\ufe661",
    "\u22121",
    "\u3000=1",
    "\xa0\uff1d1",
    "\u200b=1",
)
FORMULAS = (
    "=1+1",
    "+1",
    "-1",
    "@a",
    " =1",
    "\t=1",
    "\r=1",
    "\n=1",
    "'=1",
    " '' =1",
    "\ufeff=1",
    *ODD,
)
HARMLESS = ("a=1", "'t Hooft", "'", "", "''", "1-1", "a@b.example", "'a'", "O'Neil", "(=1)")


@pytest.mark.parametrize("cell", FORMULAS)
def test_what_a_spreadsheet_would_reckon_with_stays_text(cell: str) -> None:
    assert plain(cell) == f"'{cell}"


@pytest.mark.parametrize("cell", HARMLESS)
def test_everything_else_stays_as_it_is(cell: str) -> None:
    assert plain(cell) == cell
    assert unescaped(cell) == cell


@given(st.text(alphabet=st.one_of(st.sampled_from("'=+-@\uff1d \t\n\r\ufeffa"), st.characters())))
def test_what_was_escaped_is_read_back_as_it_was(cell: str) -> None:
    assert unescaped(str(plain(cell))) == cell


def test_numbers_stay_numbers() -> None:
    assert [plain(cell) for cell in (-1, 2.5, None, "a-1")] == [-1, 2.5, None, "a-1"]


def test_all_rows_arrive_in_utf_8_with_its_mark() -> None:
    rows = [["Ñ", number] for number in range(2 * AT_ONCE + 1)]
    answer = download("rows.csv", iter(rows))
    output = answer.get_data().decode("utf-8-sig")
    assert answer.get_data().startswith(b"\xef\xbb\xbf")
    assert list(csv.reader(StringIO(output))) == [["Ñ", str(number)] for _, number in rows]


def test_it_is_a_file_that_no_cache_keeps() -> None:
    answer = download("rows.csv", [])
    assert answer.headers["Content-Disposition"] == "attachment; filename=rows.csv"
    assert answer.headers["Cache-Control"] == "no-store"
