"""GET /terms/<t>/plan and its panel, POST /terms/<t>/plan/change."""

from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from portal.embedded import Servers
from portal.plans.plan import Plan, add, fall_back
from portal.plans.store import change, plan_of
from tests import cast as builders
from tests.cast import Cast, Meets
from tests.plans.outages import away, settled
from tests.plans.plans import line
from tests.test_health import stalled
from tests.web.plans import hidden_in, panel, planned
from tests.web.visitors import browser_of
from tests.web.visits import HTMX, address, words

PANEL = {**HTMX, "HX-Target": "plan"}


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
    """Two lines, the second with a fallback."""
    first, second, third = (line(each.id).options[0] for each in sections)

    def make(plan: Plan) -> Plan:
        return fall_back(add(add(plan, first), second), 1, third)

    return change(term.id, cast.ada.id, 0, make)


def press(client: FlaskClient, term: Any, word: str, at: int, **fields: Any) -> Any:
    """One of the buttons of a line on the plan's own page."""
    page = client.get(f"/terms/{term.id}/plan").text
    form = page[page.index(f'<form action="/terms/{term.id}/plan/change"') :]
    data = {**hidden_in(form[: form.index("</form>")]), "line": at, "do": word, **fields}
    return client.post(f"/terms/{term.id}/plan/change", data=data)


def test_an_empty_plan_says_how_to_begin(ada: FlaskClient, term: Any) -> None:
    for page in (f"/terms/{term.id}", f"/terms/{term.id}/plan"):
        assert "Press Plan beside the sections that you want" in words(ada.get(page).text)


def test_beside_the_list_it_is_for_reading(
    ada: FlaskClient, term: Any, sections: list[Any], plan: Plan
) -> None:
    shown = panel(ada.get(f"/terms/{term.id}").text)
    text = words(shown)
    assert "8 of 21 credits with all of it" in text
    assert text.index("CSC 1100") < text.index("MAT 1010") < text.index("or else PHY 1")
    assert "/plan/change" not in shown
    assert f'data-seq="{plan.version}"' in shown
    assert " ".join(str(each.id) for each in sections) in shown


def test_its_own_page_counts_down_and_has_counts_and_buttons(
    ada: FlaskClient, term: Any, sections: list[Any], plan: Plan
) -> None:
    page = ada.get(f"/terms/{term.id}/plan").text
    assert 'data-phase="before"' in page
    assert plan.lines
    for each in sections:
        assert f'data-counts="seats-{each.id}"' in page
    for word in ("up", "down", "remove", "rise-1", "sink-0", "omit-1", "hurry"):
        assert f'value="{word}"' in page


def test_the_button_sleeps_until_selection_opens_and_the_other_is_there(
    ada: FlaskClient, term: Any, plan: Plan
) -> None:
    assert plan.lines
    shown = panel(ada.get(f"/terms/{term.id}").text)
    assert 'plan-asleep" type="button" aria-disabled="true">' in shown
    assert "Submit my plan Opens " in words(shown)
    assert 'plan-submit" type="submit">' in shown


def test_once_open_only_the_button_that_submits_is_there(ada: FlaskClient, cast: Cast) -> None:
    term = builders.a_term("Spring 2031")
    builders.an_open_window(term)
    section = builders.a_section(builders.a_course(), term)
    change(term.id, cast.ada.id, 0, lambda plan: add(plan, line(section.id).options[0]))
    shown = panel(ada.get(f"/terms/{term.id}").text)
    assert "plan-asleep" not in shown
    assert "Submit my plan 4 credits" in words(shown)


def test_once_it_has_ended_nothing_can_be_submitted(ada: FlaskClient, cast: Cast) -> None:
    term = builders.a_term("Spring 2031")
    builders.an_ended_window(term)
    section = builders.a_section(builders.a_course(), term)
    change(term.id, cast.ada.id, 0, lambda plan: add(plan, line(section.id).options[0]))
    shown = panel(ada.get(f"/terms/{term.id}/plan").text)
    assert "CSC 1100" in shown
    assert "plan-submit" not in shown


def test_lines_and_choices_are_moved_and_removed(
    ada: FlaskClient, term: Any, sections: list[Any], plan: Plan, cast: Cast
) -> None:
    assert plan.lines
    first, second, third = ([each.id] for each in sections)
    steps = [
        ("up", 1, [[second, third], [first]]),
        ("sink-0", 0, [[third, second], [first]]),
        ("rise-0", 0, [[third, second], [first]]),
        ("down", 0, [[first], [third, second]]),
        ("omit-0", 1, [[first], [second]]),
        ("remove", 0, [[second]]),
        ("omit-0", 0, []),
    ]
    for word, at, left in steps:
        answer = press(ada, term, word, at)
        assert (answer.status_code, answer.location) == (303, f"/terms/{term.id}/plan")
        assert planned(term, cast.ada) == left, word


def test_waiting_is_wished_unless_it_is_said_not_to_be(
    ada: FlaskClient, term: Any, plan: Plan, cast: Cast
) -> None:
    assert plan.lines
    for word, wished in (("hurry", False), ("wait", True)):
        press(ada, term, word, 0)
        found = plan_of(term.id, cast.ada.id)
        assert found
        assert (found.lines[0].wait, found.lines[1].wait) == (wished, True)


def test_credits_are_set_within_the_range(ada: FlaskClient, cast: Cast) -> None:
    term = builders.a_term("Spring 2031")
    section = builders.a_section(builders.a_course(), term, credits_min=1, credits_max=3)
    change(term.id, cast.ada.id, 0, lambda plan: add(plan, line(section.id).options[0]))
    word = f"credits-{section.id}"
    assert press(ada, term, word, 0, **{word: "2"}).status_code == 303
    assert press(ada, term, word, 0, **{word: "7"}).status_code == 400
    found = plan_of(term.id, cast.ada.id)
    assert found
    assert found.lines[0].options[0][0].credits == 200


def test_htmx_is_given_the_panel_as_its_page_has_it(
    ada: FlaskClient, term: Any, plan: Plan
) -> None:
    headers = {**PANEL, "HX-Current-URL": f"http://localhost/terms/{term.id}/plan"}
    data = {"version": plan.version, "line": "1", "do": "up"}
    answer = ada.post(f"/terms/{term.id}/plan/change", data=data, headers=headers)
    assert answer.status_code == 200
    assert answer.text.startswith('<section class="panel plan" id="plan"')
    assert "data-full" in answer.text
    assert words(answer.text).index("MAT 1010") < words(answer.text).index("CSC 1100")


def test_what_loses_its_button_gives_the_focus_to_the_title_and_says_so(
    ada: FlaskClient, term: Any, plan: Plan
) -> None:
    data = {"version": plan.version, "line": "0", "do": "remove"}
    answer = ada.post(f"/terms/{term.id}/plan/change", data=data, headers=PANEL)
    assert "autofocus" in answer.text
    assert "Taken out of your plan." in answer.text


def test_a_page_of_an_older_plan_changes_nothing_and_is_shown_what_it_is_now(
    ada: FlaskClient, term: Any, plan: Plan, cast: Cast
) -> None:
    before = planned(term, cast.ada)
    data = {"version": plan.version - 1, "line": "0", "do": "remove"}
    answer = ada.post(f"/terms/{term.id}/plan/change", data=data, headers=PANEL)
    assert answer.status_code == 422
    assert "Your plan was changed meanwhile" in answer.text
    assert f'data-seq="{plan.version}"' in answer.text
    plain = ada.post(f"/terms/{term.id}/plan/change", data=data)
    assert "Your plan was changed meanwhile" in ada.get(plain.location).text
    assert planned(term, cast.ada) == before


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"do": "explode"}, 422),
        ({"do": "omit-9"}, 422),
        ({"do": "up-" + "9" * 40}, 422),
        ({"line": "9"}, 422),
        ({"line": "-1"}, 400),
        ({"line": "x" * 99}, 400),
        ({"version": ""}, 400),
    ],
)
def test_nonsense_changes_nothing(  # noqa: PLR0917
    ada: FlaskClient, term: Any, plan: Plan, cast: Cast, fields: dict[str, str], status: int
) -> None:
    data = {"version": plan.version, "line": "0", "do": "up", **fields}
    answer = ada.post(f"/terms/{term.id}/plan/change", data=data, headers=PANEL)
    assert answer.status_code == status
    assert plan_of(term.id, cast.ada.id) == plan


def test_what_stands_in_the_way_of_a_choice_is_told_beside_it_with_the_next_step(
    ada: FlaskClient, cast: Cast
) -> None:
    term = builders.a_term("Spring 2031")
    one, other = (
        builders.a_section(builders.a_course(code), term, meetings=(Meets(),))
        for code in ("CSC-1100", "MAT-1010")
    )
    needy = builders.a_section(
        builders.a_course("PHY-1"), term, prerequisites={"course": "MAT-1010"}
    )
    for at, each in enumerate((one, other, needy)):
        option = line(each.id).options[0]
        change(term.id, cast.ada.id, at, lambda plan, option=option: add(plan, option))
    shown = panel(ada.get(f"/terms/{term.id}/plan").text)
    assert shown.count('data-reason="time_conflict"') == 1
    assert shown.index("MAT 1010") < shown.index('data-reason="time_conflict"')
    assert 'data-reason="prerequisite"' in shown
    assert "Find MAT 1010" in shown


def test_a_section_that_is_no_longer_offered_says_so_and_can_be_removed(
    ada: FlaskClient, term: Any, cast: Cast
) -> None:
    change(term.id, cast.ada.id, 0, lambda plan: add(plan, line(999).options[0]))
    assert "No longer offered" in words(ada.get(f"/terms/{term.id}/plan").text)
    press(ada, term, "remove", 0)
    assert planned(term, cast.ada) == []


def test_a_page_with_an_older_plan_is_given_the_panel_anew(
    ada: FlaskClient, term: Any, plan: Plan
) -> None:
    answer = ada.get(f"/terms/{term.id}/plan/panel")
    assert answer.headers["Cache-Control"] == "no-store"
    assert f'data-seq="{plan.version}"' in answer.text
    assert "data-full" not in answer.text
    assert "data-full" in ada.get(f"/terms/{term.id}/plan/panel?full=1").text


def test_while_postgresql_is_away_the_list_goes_on_and_the_plan_is_as_last_known(
    app: Flask, ada: FlaskClient, term: Any, sections: list[Any], plan: Plan
) -> None:
    assert plan.lines
    ben = browser_of(app, "ben")
    settled()
    for each in (ada, ben):
        assert each.get(f"/terms/{term.id}").status_code == 200
    with away():
        assert "CSC 1100" in panel(ada.get(f"/terms/{term.id}").text)
        data = {"version": plan.version, "line": "0", "do": "remove"}
        answer = ada.post(f"/terms/{term.id}/plan/change", data=data)
        assert (answer.status_code, "nothing was changed" in answer.text) == (503, True)
        form = ada.get(address(sections[0], "plan"))
        assert form.status_code == 200


def test_while_the_ledger_is_silent_nothing_is_changed_as_is_said(
    ada: FlaskClient, term: Any, plan: Plan, cast: Cast, servers: Servers
) -> None:
    form = {"version": plan.version, "line": 0, "do": "remove"}
    with stalled(servers, "valkey"):
        answer = ada.post(f"/terms/{term.id}/plan/change", data=form, headers=PANEL)
    assert answer.status_code == 503
    assert "nothing was changed" in words(answer.text)
    assert plan_of(term.id, cast.ada.id) == plan


def test_it_is_for_students(app: Flask, term: Any) -> None:
    assert browser_of(app, "iris").get(f"/terms/{term.id}/plan").status_code == 403
