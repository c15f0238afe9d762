"""Events name the rules that a permission lifted, and only those."""

from typing import Any

import pytest

from portal.ledger.types import Claim, LedgerChoice, Outcome, Reason
from tests.ledger.requests import Desk, codes, meets

MONDAY = (meets(1, 9, 11),)
PREREQUISITE = Reason("prerequisite", {"missing": {"course": "MAT 1"}})


@pytest.fixture
def desk(desk: Desk) -> Desk:
    """Return a desk with two sections at the same time; student 501 has a seat in the first."""
    desk.section(1, times=MONDAY)
    desk.section(2, capacity=1, times=MONDAY)
    desk.section(3)
    desk.claim(501, 1)
    return desk


def permitted(desk: Desk, name: str, section: int = 2) -> Any:
    """Return what the last such event about the section names."""
    found = [e for e in desk.events() if e["name"] == name and e["section"] == section]
    return found[-1].get("permitted")


def test_event_names_a_lifted_reason(desk: Desk) -> None:
    desk.claim(501, 2, waived=["time_conflict"])
    assert permitted(desk, "enrolled") == ["time_conflict"]


def test_event_does_not_name_a_reason_that_did_not_apply(desk: Desk) -> None:
    waived = ["prerequisite", "same_course", "time_conflict", "credit_limit"]
    desk.claim(501, 2, rules=[PREREQUISITE], waived=waived)
    assert permitted(desk, "enrolled") == ["prerequisite", "time_conflict"]


def test_event_names_nothing_if_no_reason_applied(desk: Desk) -> None:
    desk.claim(501, 3, waived=["time_conflict", "prerequisite", "corequisite"])
    desk.claim(502, 3)
    assert [e.get("permitted") for e in desk.events() if e["name"] == "enrolled"] == [None] * 3


def test_reason_without_a_permission_still_refuses(desk: Desk) -> None:
    answer = desk.claim(501, 2, rules=[PREREQUISITE], waived=["time_conflict"])
    assert codes(answer) == ["prerequisite"]
    assert permitted(desk, "refused") is None


def test_lifted_corequisite_is_named_if_it_is_missing(desk: Desk) -> None:
    needs: dict[str, Any] = {"waived": ["corequisite"], "waived_corequisites": {"course": 3}}
    assert codes(desk.claim(502, 2, **needs | {"waived": []})) == ["corequisite"]
    desk.claim(502, 2, **needs)
    assert permitted(desk, "enrolled") == ["corequisite"]
    desk.claim(503, 3)
    desk.section(4)
    desk.claim(503, 4, **needs)
    assert permitted(desk, "enrolled", 4) is None


def test_seat_does_not_depend_on_a_lifted_corequisite(desk: Desk) -> None:
    desk.claim(502, 3)
    desk.claim(502, 2, waived=["corequisite"], waived_corequisites={"course": 3})
    assert desk.drop(502, 3).outcome == Outcome.DROPPED
    assert "corequisites" not in [e for e in desk.events() if e["name"] == "enrolled"][-1]


def test_waitlist_and_promotion_name_what_a_permission_lifted(desk: Desk) -> None:
    desk.claim(502, 2)
    desk.claim(501, 2, rules=[PREREQUISITE], waived=["time_conflict", "prerequisite"])
    assert permitted(desk, "waitlisted") == ["time_conflict", "prerequisite"]
    desk.drop(502, 2)
    # The student has passed the prerequisite since.
    assert desk.promote(2, waived=("time_conflict", "prerequisite")).promoted == (501,)
    assert permitted(desk, "promoted") == ["time_conflict"]


def test_swap_does_not_name_a_conflict_with_the_seat_that_goes(desk: Desk) -> None:
    desk.claim(501, 2, swap_out=1, waived=["time_conflict"])
    assert permitted(desk, "enrolled") is None
    desk.claim(501, 1, swap_out=2, rules=[PREREQUISITE], waived=["time_conflict", "prerequisite"])
    assert permitted(desk, "enrolled", 1) == ["prerequisite"]
    assert permitted(desk, "dropped") is None


def test_each_event_of_a_plan_names_its_own(desk: Desk) -> None:
    plan = [Claim(2, 400, waived=("time_conflict",)), Claim(3, 400, waived=("time_conflict",))]
    desk.submit(501, *(LedgerChoice(((each,),)) for each in plan))
    assert permitted(desk, "enrolled") == ["time_conflict"]
    assert permitted(desk, "enrolled", 3) is None


def test_alternative_taken_names_its_own(desk: Desk) -> None:
    desk.claim(502, 2)
    options = tuple((Claim(each, 400, waived=("time_conflict",)),) for each in (2, 3))
    desk.submit(501, LedgerChoice(options))
    assert permitted(desk, "enrolled", 3) is None


def test_adjustment_names_permissions_apart_from_overrides(desk: Desk) -> None:
    part = Claim(2, 400, rules=(PREREQUISITE,), waived=("prerequisite",))
    desk.adjust(501, add=2, part=part, overrides=["time_conflict", "prerequisite"])
    assert permitted(desk, "enrolled") == ["prerequisite"]
    assert desk.last_event()["overrides"] == ["time_conflict"]


def test_batch_names_what_a_permission_lifted_in_the_end(desk: Desk) -> None:
    part = Claim(2, 400, waived=("time_conflict",))
    desk.adjust_batch(desk.adjustment(501, add=2, drop=1, part=part))
    assert permitted(desk, "enrolled") is None
    desk.adjust_batch(desk.adjustment(501, add=1, part=Claim(1, 400, waived=("time_conflict",))))
    assert permitted(desk, "enrolled", 1) == ["time_conflict"]
