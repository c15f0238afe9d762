"""A corequisite is fulfilled by a seat in such a course in the same term."""

from typing import Any

import pytest

from tests.ledger.requests import Desk, facts

A, B, C = ({"course": number} for number in (31, 32, 33))  # the student holds 31


@pytest.mark.parametrize(
    ("tree", "missing"),
    [
        (A, []),
        (B, [32]),
        ({"all": [A, B]}, [32]),
        ({"any": [A, B]}, []),
        ({"any": [B, C]}, [32, 33]),
        ({"all": [{"any": [A, B]}, C]}, [33]),
        ({"any": [{"all": [A, B]}, {"all": [A]}]}, []),
        ({"all": []}, []),
        (None, []),
    ],
)
def test_the_missing_courses_are_named(
    desk: Desk, tree: dict[str, Any] | None, missing: list[int]
) -> None:
    desk.section(1, course=31)
    desk.section(2)
    desk.claim(501, 1)
    answer = desk.claim(501, 2, corequisites=tree)
    assert (facts(answer, "corequisite")["missing"] if answer.reasons else []) == missing


def test_a_place_on_a_waitlist_fulfils_nothing(desk: Desk) -> None:
    desk.section(1, capacity=0, course=31)
    desk.section(2)
    desk.claim(501, 1)
    assert facts(desk.claim(501, 2, corequisites=A), "corequisite") == {"missing": [31]}
