"""Permissions by the registrar, from the record to a seat."""

from typing import Any

import pytest

from portal.backend import backend as parts
from portal.ledger.types import Outcome
from portal.people import permissions
from portal.people.permissions import Target
from portal.recorder.promotion import promote
from tests import cast as builders
from tests import register
from tests.cast import Cast, Meets
from tests.registration.test_commands import claim, reasons


def permit(section: Any, *waives: str, who: str = "ada") -> None:
    permissions.grant_by_name(Target(who, "Fall 2030", section.crn), waives, "By the dean.", None)


def test_permission_gives_a_seat_that_others_are_refused(term: Any, cast: Cast) -> None:
    needs = {"prerequisites": {"course": "MAT-1010"}}
    section = builders.a_section(builders.a_course(), term, **needs)
    permit(section, "prerequisite")
    assert claim(cast.ada, section).outcome == Outcome.ENROLLED
    assert reasons(claim(cast.ben, section)) == ["prerequisite"]


def test_permission_lifts_the_ledgers_rules_too(term: Any, cast: Cast) -> None:
    course = builders.a_course(credits=15)
    one, other = (builders.a_section(course, term, meetings=(Meets(),)) for _ in range(2))
    permit(other, "same_course", "time_conflict", "credit_limit")
    claim(cast.ada, one)
    assert claim(cast.ada, other).outcome == Outcome.ENROLLED
    claim(cast.ben, one)
    result = ["same_course", "time_conflict", "credit_limit"]
    assert reasons(claim(cast.ben, other)) == result


def test_permission_does_not_lift_capacity(term: Any, cast: Cast) -> None:
    section = builders.a_section(builders.a_course(), term, capacity=0, waitlist=0)
    permit(section, "prerequisite", "restriction", "credit_limit")
    assert reasons(claim(cast.ada, section)) == ["full"]


@pytest.mark.parametrize("kept", [True, False])
def test_promotion_uses_the_permissions_of_that_moment(
    term: Any,
    cast: Cast,
    kept: bool,  # noqa: FBT001
) -> None:
    needs = {"prerequisites": {"course": "MAT-1010"}, "meetings": (Meets(),)}
    choice = builders.a_section(builders.a_course("PHY-1"), term, capacity=1, **needs)
    other = builders.a_section(builders.a_course(), term, meetings=(Meets(),))
    for who in ("ada", "ben"):
        permit(choice, "prerequisite", "time_conflict", who=who)
    claim(cast.ben, choice)
    claim(cast.ada, choice, wait=True)
    assert claim(cast.ada, other).outcome == Outcome.ENROLLED
    if not kept:
        permissions.revoke_by_name(Target("ada", "Fall 2030", choice.crn), "")
    register.drop(cast.ben.id, term.id, choice.id)
    assert promote(term.id, "test") == int(kept)
    passed = parts().ledger.registrations(term.id, cast.ada.id).waiting
    codes = [reason.code for position in passed for reason in position.reasons]
    assert codes == ([] if kept else ["time_conflict", "prerequisite"])
