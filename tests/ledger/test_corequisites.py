"""A seat in the course in the same term meets a corequisite."""

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
def test_refusal_names_the_missing_corequisites(
    desk: Desk, tree: dict[str, Any] | None, missing: list[int]
) -> None:
    desk.section(1, course=31)
    desk.section(2)
    desk.claim(501, 1)
    answer = desk.claim(501, 2, corequisites=tree)
    assert (facts(answer, "corequisite")["missing"] if answer.reasons else []) == missing


def test_waitlist_position_does_not_meet_a_corequisite(desk: Desk) -> None:
    desk.section(1, capacity=0, course=31)
    desk.section(2)
    desk.claim(501, 1)
    assert facts(desk.claim(501, 2, corequisites=A), "corequisite") == {"missing": [31]}
