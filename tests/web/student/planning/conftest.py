"""A term whose window has not opened, for planning."""

from typing import Any

import pytest

from portal.registration.plan_store import change
from portal.registration.plans import Plan, add, add_alternative
from tests import cast as builders
from tests.cast import Cast
from tests.registration.plan_makers import line


@pytest.fixture
def term(cast: Cast) -> Any:  # noqa: ARG001
    found = builders.a_term()
    builders.a_coming_window(found)
    return found


@pytest.fixture
def sections(term: Any) -> list[Any]:
    codes = ("CSC-1100", "MAT-1010", "PHY-1")
    return [builders.a_section(builders.a_course(code), term) for code in codes]


@pytest.fixture
def plan(term: Any, sections: list[Any], cast: Cast) -> Plan:
    """Store a plan of two choices, the second with an alternative."""
    first, second, third = (line(each.id).alternatives[0] for each in sections)

    def make(plan: Plan) -> Plan:
        return add_alternative(add(add(plan, first), second), 1, third)

    return change(term.id, cast.ada.id, 0, make)
