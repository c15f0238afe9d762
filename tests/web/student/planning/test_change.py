"""POST /terms/<t>/plan/change."""

from typing import Any

import pytest
from flask.testing import FlaskClient

from portal.registration.plan_store import change, plan_of
from portal.registration.plans import Plan, add
from portal.runtime.embedded_servers import Servers
from tests import cast as builders
from tests.cast import Cast
from tests.operations.test_health import stalled
from tests.registration.plan_makers import line
from tests.web.pages import HTMX, words
from tests.web.student.plans import hidden_in, planned

PANEL = {**HTMX, "HX-Target": "plan"}


def press(client: FlaskClient, term: Any, word: str, at: int, **fields: Any) -> Any:
    """Press a button of a choice on the plan page."""
    page = client.get(f"/terms/{term.id}/plan").text
    form = page[page.index(f'<form action="/terms/{term.id}/plan/change"') :]
    data = {**hidden_in(form[: form.index("</form>")]), "line": at, "do": word, **fields}
    return client.post(f"/terms/{term.id}/plan/change", data=data)


def test_choices_and_alternatives_are_moved_and_removed(
    ada: FlaskClient, term: Any, sections: list[Any], plan: Plan, cast: Cast
) -> None:
    assert plan.choices
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


def test_waiting_is_on_by_default(ada: FlaskClient, term: Any, plan: Plan, cast: Cast) -> None:
    assert plan.choices
    for word, choice in (("hurry", False), ("wait", True)):
        press(ada, term, word, 0)
        found = plan_of(term.id, cast.ada.id)
        assert found
        assert (found.choices[0].wait, found.choices[1].wait) == (choice, True)


def test_credits_are_set_within_the_range(ada: FlaskClient, cast: Cast) -> None:
    term = builders.a_term("Spring 2031")
    section = builders.a_section(builders.a_course(), term, credits_min=1, credits_max=3)
    change(term.id, cast.ada.id, 0, lambda plan: add(plan, line(section.id).alternatives[0]))
    word = f"credits-{section.id}"
    assert press(ada, term, word, 0, **{word: "2"}).status_code == 303
    assert press(ada, term, word, 0, **{word: "7"}).status_code == 400
    found = plan_of(term.id, cast.ada.id)
    assert found
    assert found.choices[0].alternatives[0][0].credits == 200


def test_htmx_gets_the_panel_of_its_page(ada: FlaskClient, term: Any, plan: Plan) -> None:
    headers = {**PANEL, "HX-Current-URL": f"http://localhost/terms/{term.id}/plan"}
    data = {"version": plan.version, "line": "1", "do": "up"}
    answer = ada.post(f"/terms/{term.id}/plan/change", data=data, headers=headers)
    assert answer.status_code == 200
    assert answer.text.startswith('<section class="panel plan" id="plan"')
    assert "data-full" in answer.text
    assert words(answer.text).index("MAT 1010") < words(answer.text).index("CSC 1100")


def test_focus_moves_to_the_title_if_a_button_disappears(
    ada: FlaskClient, term: Any, plan: Plan
) -> None:
    data = {"version": plan.version, "line": "0", "do": "remove"}
    answer = ada.post(f"/terms/{term.id}/plan/change", data=data, headers=PANEL)
    assert "autofocus" in answer.text
    assert "Removed from your plan." in answer.text


def test_page_of_an_older_plan_changes_nothing_and_gets_the_current_one(
    ada: FlaskClient, term: Any, plan: Plan, cast: Cast
) -> None:
    before = planned(term, cast.ada)
    data = {"version": plan.version - 1, "line": "0", "do": "remove"}
    answer = ada.post(f"/terms/{term.id}/plan/change", data=data, headers=PANEL)
    assert answer.status_code == 422
    assert "Your plan has changed, maybe in another tab" in answer.text
    assert f'data-seq="{plan.version}"' in answer.text
    plain = ada.post(f"/terms/{term.id}/plan/change", data=data)
    assert "Your plan has changed, maybe in another tab" in ada.get(plain.location).text
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
def test_invalid_change_changes_nothing(  # noqa: PLR0917
    ada: FlaskClient, term: Any, plan: Plan, cast: Cast, fields: dict[str, str], status: int
) -> None:
    data = {"version": plan.version, "line": "0", "do": "up", **fields}
    answer = ada.post(f"/terms/{term.id}/plan/change", data=data, headers=PANEL)
    assert answer.status_code == status
    assert plan_of(term.id, cast.ada.id) == plan


def test_section_no_longer_offered_is_marked_and_can_be_removed(
    ada: FlaskClient, term: Any, cast: Cast
) -> None:
    change(term.id, cast.ada.id, 0, lambda plan: add(plan, line(999).alternatives[0]))
    assert "No longer offered" in words(ada.get(f"/terms/{term.id}/plan").text)
    press(ada, term, "remove", 0)
    assert planned(term, cast.ada) == []


def test_change_while_the_ledger_is_silent_is_refused(
    ada: FlaskClient, term: Any, plan: Plan, cast: Cast, servers: Servers
) -> None:
    form = {"version": plan.version, "line": 0, "do": "remove"}
    with stalled(servers, "valkey"):
        answer = ada.post(f"/terms/{term.id}/plan/change", data=form, headers=PANEL)
    assert answer.status_code == 503
    assert "Nothing was changed" in words(answer.text)
    assert plan_of(term.id, cast.ada.id) == plan
