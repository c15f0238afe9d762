"""GET /terms/<t>/plan and its panel."""

from typing import Any

from flask import Flask
from flask.testing import FlaskClient

from portal.registration.plan_store import change
from portal.registration.plans import Plan, add
from tests import cast as builders
from tests.cast import Cast, Meets
from tests.registration.database_outage import away, settled
from tests.registration.plan_makers import line
from tests.web.pages import address, words
from tests.web.student.plans import panel
from tests.web.visitors import browser_of


def test_empty_plan_explains_how_to_begin(ada: FlaskClient, term: Any) -> None:
    for page in (f"/terms/{term.id}", f"/terms/{term.id}/plan"):
        assert "Press “+ Plan” next to the classes you want" in words(ada.get(page).text)


def test_plan_beside_the_list_is_read_only(
    ada: FlaskClient, term: Any, sections: list[Any], plan: Plan
) -> None:
    shown = panel(ada.get(f"/terms/{term.id}").text)
    text = words(shown)
    assert "8 of 21 credits with your plan" in text
    assert text.index("CSC 1100") < text.index("MAT 1010") < text.index("Backup PHY 1")
    assert "/plan/change" not in shown
    assert f'data-seq="{plan.version}"' in shown
    assert " ".join(str(each.id) for each in sections) in shown


def test_plan_page_has_countdown_counts_and_buttons(
    ada: FlaskClient, term: Any, sections: list[Any], plan: Plan
) -> None:
    page = ada.get(f"/terms/{term.id}/plan").text
    assert 'data-phase="before"' in page
    assert plan.choices
    for each in sections:
        assert f'data-counts="seats-{each.id}"' in page
    for word in ("up", "down", "remove", "rise-1", "sink-0", "omit-1", "hurry"):
        assert f'value="{word}"' in page


def test_submit_button_is_disabled_until_the_window_opens(
    ada: FlaskClient, term: Any, plan: Plan
) -> None:
    assert plan.choices
    shown = panel(ada.get(f"/terms/{term.id}").text)
    assert 'plan-asleep" type="button" aria-disabled="true">' in shown
    assert "Submit plan Opens " in words(shown)
    assert 'plan-submit" type="submit"' in shown


def test_only_the_submit_button_is_shown_in_an_open_window(ada: FlaskClient, cast: Cast) -> None:
    term = builders.a_term("Spring 2031")
    builders.an_open_window(term)
    section = builders.a_section(builders.a_course(), term)
    change(term.id, cast.ada.id, 0, lambda plan: add(plan, line(section.id).alternatives[0]))
    shown = panel(ada.get(f"/terms/{term.id}").text)
    assert "plan-asleep" not in shown
    assert "Submit plan 4 credits" in words(shown)


def test_nothing_can_be_submitted_after_the_window(ada: FlaskClient, cast: Cast) -> None:
    term = builders.a_term("Spring 2031")
    builders.an_ended_window(term)
    section = builders.a_section(builders.a_course(), term)
    change(term.id, cast.ada.id, 0, lambda plan: add(plan, line(section.id).alternatives[0]))
    shown = panel(ada.get(f"/terms/{term.id}/plan").text)
    assert "CSC 1100" in shown
    assert "plan-submit" not in shown


def test_likely_refusals_are_shown_beside_each_choice(ada: FlaskClient, cast: Cast) -> None:
    term = builders.a_term("Spring 2031")
    one, other = (
        builders.a_section(builders.a_course(code), term, meetings=(Meets(),))
        for code in ("CSC-1100", "MAT-1010")
    )
    needy = builders.a_section(
        builders.a_course("PHY-1"), term, prerequisites={"course": "MAT-1010"}
    )
    for at, each in enumerate((one, other, needy)):
        option = line(each.id).alternatives[0]
        change(term.id, cast.ada.id, at, lambda plan, option=option: add(plan, option))
    shown = panel(ada.get(f"/terms/{term.id}/plan").text)
    assert shown.count('data-reason="time_conflict"') == 1
    assert shown.index("MAT 1010") < shown.index('data-reason="time_conflict"')
    assert 'data-reason="prerequisite"' in shown
    assert "Find MAT 1010" in shown


def test_page_with_an_older_plan_gets_a_new_panel(ada: FlaskClient, term: Any, plan: Plan) -> None:
    answer = ada.get(f"/terms/{term.id}/plan/panel")
    assert answer.headers["Cache-Control"] == "no-store"
    assert f'data-seq="{plan.version}"' in answer.text
    assert "data-full" not in answer.text
    assert "data-full" in ada.get(f"/terms/{term.id}/plan/panel?full=1").text


def test_last_known_plan_is_shown_while_postgresql_is_down(
    app: Flask, ada: FlaskClient, term: Any, sections: list[Any], plan: Plan
) -> None:
    assert plan.choices
    ben = browser_of(app, "ben")
    settled()
    for each in (ada, ben):
        assert each.get(f"/terms/{term.id}").status_code == 200
    with away():
        assert "CSC 1100" in panel(ada.get(f"/terms/{term.id}").text)
        data = {"version": plan.version, "line": "0", "do": "remove"}
        answer = ada.post(f"/terms/{term.id}/plan/change", data=data)
        assert (answer.status_code, "Nothing was changed" in answer.text) == (503, True)
        form = ada.get(address(sections[0], "plan"))
        assert form.status_code == 200


def test_page_is_for_students(app: Flask, term: Any) -> None:
    assert browser_of(app, "iris").get(f"/terms/{term.id}/plan").status_code == 403
