"""Receipt codes are short, tolerant of spelling, and detect typing errors."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from portal.recorder.receipts import SYMBOLS, code, parse

terms = st.integers(1, 50) | st.integers(1, 2**31)
events = st.integers(1, 100) | st.integers(1, 32**4) | st.integers(1, 2**53)
receipts = st.tuples(terms, events)
keys = st.sampled_from(SYMBOLS + "-")


def noticed(wrong: str) -> bool:
    """Return whether a code is refused."""
    try:
        parse(wrong)
    except ValueError:
        return True
    return False


@given(receipts)
def test_code_identifies_its_event(receipt: tuple[int, int]) -> None:
    assert parse(code(*receipt)) == receipt


@given(receipts, st.data())
def test_every_wrong_symbol_is_detected(receipt: tuple[int, int], data: st.DataObject) -> None:
    right = code(*receipt)
    position = data.draw(st.integers(0, len(right) - 1))
    typed = data.draw(keys.filter(lambda key: key != right[position]))
    assert noticed(right[:position] + typed + right[position + 1 :])


@given(receipts)
def test_every_swap_of_neighbours_is_detected(receipt: tuple[int, int]) -> None:
    right = code(*receipt)
    for position in range(len(right) - 1):
        one, other = right[position : position + 2]
        if one != other:
            assert noticed(right[:position] + other + one + right[position + 2 :])


def test_code_is_short() -> None:
    assert code(7, 650_000) == "7-KTRG-F"
    assert code(1, 1) == "1-0001-8"


@pytest.mark.parametrize("written", ["7-ktrg-f", " 7 KTRG F ", "7 KTRG-f"])
def test_code_may_have_small_letters_and_spaces(written: str) -> None:
    assert parse(written) == (7, 650_000)


def test_letters_that_look_like_digits_are_accepted() -> None:
    assert parse("I-OOO1-8") == parse("l-000L-8") == (1, 1)


@pytest.mark.parametrize(
    "nonsense",
    ["", "7", "--", "7-KTRG", "7KTRGF", "7-KTRG-F-7", "7-KTRU-F", "07-KTRG-F", "\u0667-KTRG-F"],
)
def test_invalid_code_is_refused(nonsense: str) -> None:
    assert noticed(nonsense)
