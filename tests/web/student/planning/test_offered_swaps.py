"""The plan page offers a swap only if its form can be sent."""

from typing import Any

import pytest
from flask.testing import FlaskClient

from tests import cast as builders
from tests.cast import Cast, Meets, set_deadlines
from tests.registration.plan_makers import line
from tests.web.pages import address, press
from tests.web.student.plans import a_class, panel, plan

PAST, AHEAD = -2, 2  # days from today
AT_TEN = (Meets(),)


@pytest.fixture
def term(cast: Cast) -> Any:  # noqa: ARG001
    found = builders.a_term("Spring 2031")
    builders.an_open_window(found)
    return found


def steps(ada: FlaskClient, term: Any, section: Any) -> list[bool]:
    """Return whether the plan page links to the forms that swap or drop a section."""
    shown = panel(ada.get(f"/terms/{term.id}/plan").text)
    assert "data-reason=" in shown
    return [text in shown for text in (f"swap?swap_out={section.id}", address(section, "drop"))]


def test_swap_is_offered_for_a_planned_section_at_the_time_of_a_seat(
    ada: FlaskClient, term: Any, cast: Cast
) -> None:
    mine, wanted = (a_class(term, code, meetings=AT_TEN) for code in ("CSC-1", "MAT-1"))
    press(ada, mine, "pick")
    plan(term, cast.ada, line(wanted.id))
    assert steps(ada, term, mine) == [True, False]


@pytest.mark.parametrize(
    "days",
    [
        {"add_deadline": PAST, "drop_deadline": AHEAD},
        {"add_deadline": AHEAD, "drop_deadline": PAST},
    ],
    ids=["add", "drop"],
)
def test_neither_swap_nor_drop_is_offered_after_a_deadline_that_refuses_the_swap(
    ada: FlaskClient, term: Any, cast: Cast, days: dict[str, int]
) -> None:
    mine, wanted = (a_class(term, code, meetings=AT_TEN) for code in ("CSC-1", "MAT-1"))
    press(ada, mine, "pick")
    plan(term, cast.ada, line(wanted.id))
    set_deadlines(term, **days)
    assert steps(ada, term, mine) == [False, False]


def test_seat_that_another_class_requires_is_not_offered_for_a_swap(
    ada: FlaskClient, term: Any, cast: Cast
) -> None:
    mine, wanted = (a_class(term, code, meetings=AT_TEN) for code in ("CSC-1", "MAT-1"))
    lab = a_class(term, "CSC-2", corequisites={"course": "CSC-1"})
    for each in (mine, lab):
        press(ada, each, "pick")
    plan(term, cast.ada, line(wanted.id))
    assert steps(ada, term, mine) == [False, True]


def test_seat_that_the_section_itself_requires_is_not_offered_for_a_swap(
    ada: FlaskClient, term: Any, cast: Cast
) -> None:
    lecture = a_class(term, "CSC-1", credits_min=20, credits_max=20)
    lab = a_class(term, "CSC-2", corequisites={"course": "CSC-1"})
    press(ada, lecture, "pick")
    plan(term, cast.ada, line(lab.id))
    assert steps(ada, term, lecture) == [False, False]


@pytest.mark.parametrize(("waitlist", "offered"), [(0, False), (5, True)])
def test_full_section_is_offered_for_a_swap_only_if_it_can_be_waited_for(
    ada: FlaskClient, term: Any, cast: Cast, waitlist: int, *, offered: bool
) -> None:
    mine = a_class(term, "CSC-1", meetings=AT_TEN)
    wanted = a_class(term, "MAT-1", meetings=AT_TEN, capacity=0, waitlist=waitlist)
    press(ada, mine, "pick")
    plan(term, cast.ada, line(wanted.id))
    assert steps(ada, term, mine) == [offered, False]
