"""Codes of receipts: short, forgiving in how they are written, strict in what they say."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from portal.recorder.receipts import SYMBOLS, code, parse

terms = st.integers(1, 50) | st.integers(1, 2**31)
events = st.integers(1, 100) | st.integers(1, 32**4) | st.integers(1, 2**53)
receipts = st.tuples(terms, events)
keys = st.sampled_from(SYMBOLS + "-")


def noticed(wrong: str) -> bool:
    """Whether a code is refused."""
    try:
        parse(wrong)
    except ValueError:
        return True
    return False


@given(receipts)
def test_a_code_leads_back_to_its_event(receipt: tuple[int, int]) -> None:
    assert parse(code(*receipt)) == receipt


@given(receipts, st.data())
def test_every_single_wrong_symbol_is_noticed(
    receipt: tuple[int, int], data: st.DataObject
) -> None:
    right = code(*receipt)
    place = data.draw(st.integers(0, len(right) - 1))
    typed = data.draw(keys.filter(lambda key: key != right[place]))
    assert noticed(right[:place] + typed + right[place + 1 :])


@given(receipts)
def test_every_swap_of_neighbours_is_noticed(receipt: tuple[int, int]) -> None:
    right = code(*receipt)
    for place in range(len(right) - 1):
        one, other = right[place : place + 2]
        if one != other:
            assert noticed(right[:place] + other + one + right[place + 2 :])


def test_a_code_is_short_enough_to_be_said() -> None:
    assert code(7, 650_000) == "7-KTRG-F"
    assert code(1, 1) == "1-0001-8"


@pytest.mark.parametrize("written", ["7-ktrg-f", " 7 KTRG F ", "7 KTRG-f"])
def test_it_may_be_written_in_small_letters_and_with_spaces(written: str) -> None:
    assert parse(written) == (7, 650_000)


def test_letters_that_look_like_digits_count_as_digits() -> None:
    assert parse("I-OOO1-8") == parse("l-000L-8") == (1, 1)


@pytest.mark.parametrize(
    "nonsense",
    ["", "7", "--", "7-KTRG", "7KTRGF", "7-KTRG-F-7", "7-KTRU-F", "07-KTRG-F", "\u0667-KTRG-F"],
)
def test_what_is_no_code_is_refused(nonsense: str) -> None:
    assert noticed(nonsense)
