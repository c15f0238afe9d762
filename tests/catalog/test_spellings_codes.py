"""Course codes, credits and counts as universities write them."""

import contextlib
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from portal.catalog.spellings import Unreadable, code_of, count_of, credits_of, subject_of


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("CSC 225", "CSC-225"),
        ("CSC-225", "CSC-225"),
        ("csc225", "CSC-225"),
        (" Csc_225 ", "CSC-225"),
        ("CSC*225", "CSC-225"),
        ("CS 61A", "CS-61A"),
        ("COMPSCI H195", "COMPSCI-H195"),
        ("A S 101", "A S-101"),
        ("C&S 101", "C&S-101"),
        ("ÖKO 12", "ÖKO-12"),
        ("ED-D 301", "ED-D-301"),
        ("Ed-D-301A", "ED-D-301A"),
    ],
)
def test_a_code_has_one_spelling(text: str, expected: str) -> None:
    assert code_of(text) == expected
    assert code_of(expected) == expected


def test_a_code_begins_with_its_subject() -> None:
    assert subject_of("CSC-225") == "CSC"
    assert subject_of("ED-D-301") == "ED-D"


@pytest.mark.parametrize(
    "text", ["", "225", "CSC", "CSC 225 01", "ABCDEFGHIJKLMNOPQ 1", "X 1" * 30]
)
def test_what_is_no_code_is_refused_by_name(text: str) -> None:
    with pytest.raises(Unreadable):
        code_of(text)


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [
        ("4", "4", "4"),
        ("1.5", "1.5", "1.5"),
        ("1-15", "1", "15"),
        ("15-1", "1", "15"),
        ("3 | 4", "3", "4"),
        ("1-5|4|2", "1", "5"),
        ("1.00 TO 3.00", "1", "3"),
        ("3 or 4", "3", "4"),
        ("4 credits", "4", "4"),
        ("0", "0", "0"),
    ],
)
def test_credits_have_a_least_and_a_most(text: str, least: str, most: str) -> None:
    assert credits_of(text) == (Decimal(least), Decimal(most))


@pytest.mark.parametrize("text", ["", "x", "-3", "1e5", "four", "1--2", "999", "0.001"])
def test_what_are_no_credits_is_refused_by_name(text: str) -> None:
    with pytest.raises(Unreadable, match="not a number of credits"):
        credits_of(text)


@pytest.mark.parametrize(
    ("text", "expected"), [("30", 30), ("1,200", 1200), ("30.0", 30), ("-7", -7), ("", None)]
)
def test_a_count_is_read(text: str, expected: int | None) -> None:
    assert count_of(text) == expected


@pytest.mark.parametrize("text", ["x", "1e3", "3.5", "99999999999", "1,2", "٣"])
def test_what_is_no_count_is_refused_by_name(text: str) -> None:
    with pytest.raises(Unreadable):
        count_of(text)


@given(st.text(max_size=80))
def test_no_text_crashes_them(text: str) -> None:
    for read in (code_of, credits_of, count_of):
        with contextlib.suppress(Unreadable):
            read(text)


@given(st.text("ABCDEFG", min_size=1, max_size=6), st.integers(1, 9999))
def test_a_code_is_read_however_it_is_joined(subject: str, number: int) -> None:
    spellings = [f"{subject}{joint}{number}" for joint in ("", " ", "-", "_")]
    assert {code_of(each) for each in (*spellings, *map(str.lower, spellings))} == {
        f"{subject}-{number}"
    }
