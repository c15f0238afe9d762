"""The catalog in words."""

from datetime import date, time
from decimal import Decimal

import pytest

from portal.catalog import formatting
from portal.core.i18n import in_language

TERM = (date(2020, 8, 31), date(2020, 12, 18))


@pytest.mark.parametrize(
    ("starts", "ends", "words"),
    [
        (time(14), time(15, 50), "2:00–3:50 pm"),
        (time(8), time(9, 50), "8:00–9:50 am"),
        (time(11), time(12, 50), "11:00 am–12:50 pm"),
        (time(0, 5), time(0, 50), "12:05–12:50 am"),
        (None, None, "TBA"),
    ],
)
def test_times(starts: time | None, ends: time | None, words: str) -> None:
    assert formatting.times(starts, ends) == words


def test_days() -> None:
    assert formatting.days(0b0001001) == "Mon Thu"
    assert formatting.days(0b1100000) == "Sat Sun"
    assert formatting.days(0) == ""


@pytest.mark.parametrize(
    ("first", "last", "words"),
    [
        (*TERM, ""),
        (date(2020, 8, 31), date(2020, 10, 16), "Aug 31 – Oct 16"),
        (date(2020, 12, 21), date(2021, 1, 9), "Dec 21, 2020 – Jan 9, 2021"),
        (date(2020, 9, 5), date(2020, 9, 5), "Sep 5"),
    ],
)
def test_dates_are_shown_only_where_they_differ_from_the_terms(
    first: date, last: date, words: str
) -> None:
    assert formatting.dates(first, last, TERM) == words


@pytest.mark.parametrize(
    ("least", "most", "words"),
    [
        ("4.00", "4.00", "4 credits"),
        ("1", "1", "1 credit"),
        ("0", "0", "0 credits"),
        ("1.50", "1.50", "1.5 credits"),
        ("1.00", "15.00", "1–15 credits"),
        ("10", "10", "10 credits"),
    ],
)
def test_credits(least: str, most: str, words: str) -> None:
    assert formatting.credit_range(Decimal(least), Decimal(most)) == words


def test_kinds() -> None:
    assert formatting.kind("LEC") == "Lecture"
    assert formatting.kind("FIELD") == "FIELD"


def test_each_reader_gets_their_own_words() -> None:
    with in_language("es"):
        assert formatting.days(0b1000101) == "lun mié dom"
        assert formatting.times(time(8), time(13, 5)) == "8:00–13:05"
        assert formatting.times(None, None) == "Por anunciar"
        assert formatting.dates(date(2020, 8, 31), date(2020, 10, 16), TERM) == "31 ago – 16 oct"
        assert formatting.dates(date(2020, 12, 21), date(2021, 1, 9), TERM) == (
            "21 dic 2020 – 9 ene 2021"
        )
        assert formatting.credit_range(Decimal("1.50"), Decimal("1.50")) == "1,5 créditos"
        assert formatting.credit_range(Decimal(1), Decimal(1)) == "1 crédito"
        assert (formatting.kind("LAB"), formatting.kind("Lab"), formatting.kind("")) == (
            "Laboratorio", "Laboratorio", "",
        )  # fmt: skip
    assert formatting.days(0b1000101) == "Mon Wed Sun"
