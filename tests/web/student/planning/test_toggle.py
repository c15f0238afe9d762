"""POST /terms/<t>/plan/toggle: a section is planned by one press."""

from typing import Any

import pytest
from flask.testing import FlaskClient

from tests import cast as builders
from tests.cast import Cast
from tests.web.pages import HTMX, hidden, words
from tests.web.student.plans import planned


def toggle(client: FlaskClient, term: Any, **choice: int) -> Any:
    return client.post(f"/terms/{term.id}/plan/toggle", data=choice)


def test_one_press_plans_and_another_takes_out(
    ada: FlaskClient, term: Any, sections: list[Any], cast: Cast
) -> None:
    first, second, _ = sections
    for each in (first, second):
        answer = toggle(ada, term, add=each.id)
        assert (answer.status_code, answer.location) == (
            303,
            f"/terms/{term.id}#section-{each.id}",
        )
    assert planned(term, cast.ada) == [[[first.id]], [[second.id]]]
    assert "Added to your plan: CSC 1100-" in words(ada.get(f"/terms/{term.id}").text)
    toggle(ada, term, remove=first.id)
    assert planned(term, cast.ada) == [[[second.id]]]


def test_a_second_press_in_a_hurry_changes_nothing(
    ada: FlaskClient, term: Any, sections: list[Any], cast: Cast
) -> None:
    section = sections[0]
    for _ in range(2):
        toggle(ada, term, add=section.id)
        assert planned(term, cast.ada) == [[[section.id]]]
    for _ in range(2):
        toggle(ada, term, remove=section.id)
        assert planned(term, cast.ada) == []


def test_another_section_of_a_planned_course_becomes_its_backup(
    ada: FlaskClient, term: Any, cast: Cast
) -> None:
    course = builders.a_course("ART-1")
    first, other = (builders.a_section(course, term) for _ in range(2))
    toggle(ada, term, add=first.id)
    toggle(ada, term, add=other.id)
    assert planned(term, cast.ada) == [[[first.id], [other.id]]]
    assert f"as a backup for ART 1-{first.number}" in words(ada.get(f"/terms/{term.id}").text)


def test_a_corequisite_is_planned_along(ada: FlaskClient, term: Any, cast: Cast) -> None:
    lab = builders.a_section(builders.a_course("CHE-1L"), term, corequisites={"course": "CHE-1"})
    lecture = builders.a_section(
        builders.a_course("CHE-1"), term, corequisites={"course": "CHE-1L"}
    )
    toggle(ada, term, add=lecture.id)
    assert planned(term, cast.ada) == [[[lecture.id, lab.id]]]


def test_scripts_get_the_panel_and_a_message(
    ada: FlaskClient, term: Any, sections: list[Any]
) -> None:
    answer = ada.post(
        f"/terms/{term.id}/plan/toggle", data={"add": sections[0].id}, headers=HTMX
    ).text
    assert 'hx-swap-oob="true" id="plan"' in answer
    assert f'data-sections="{sections[0].id}"' in answer
    assert "Added to your plan" in words(answer)


def test_a_full_plan_says_so(ada: FlaskClient, term: Any, cast: Cast) -> None:
    made = [builders.a_section(builders.a_course(f"ART-{it}"), term) for it in range(21)]
    for each in made:
        toggle(ada, term, add=each.id)
    assert len(planned(term, cast.ada)) == 20
    assert "A plan holds at most 20 choices" in words(ada.get(f"/terms/{term.id}").text)


@pytest.mark.parametrize("field", [{}, {"add": "x"}, {"remove": ""}])
def test_invalid_input_is_refused(ada: FlaskClient, term: Any, field: dict[str, Any]) -> None:
    assert toggle(ada, term, **field).status_code == 400


def test_hidden_and_unknown_sections_are_not_planned(
    ada: FlaskClient, term: Any, cast: Cast
) -> None:
    secret = builders.a_section(builders.a_course("HON-1", public=False), term)
    assert toggle(ada, term, add=secret.id).status_code == 404
    assert toggle(ada, term, add=987654).status_code == 404
    assert planned(term, cast.ada) == []


def test_the_dialog_that_moves_a_section_numbers_choices_as_the_plan_does(
    ada: FlaskClient, term: Any
) -> None:
    first, second, third = (
        builders.a_section(builders.a_course(code), term) for code in ("ART-1", "BIO-1", "CHE-1")
    )
    for each in (first, second, third):
        toggle(ada, term, add=each.id)
    page = words(ada.get(f"/terms/{term.id}/sections/{first.id}/plan").text)
    assert f"Choice 1: ART 1-{first.number}" in page
    assert f"Backup for BIO 1-{second.number} (choice 2)" in page
    assert f"Backup for CHE 1-{third.number} (choice 3)" in page


def test_a_planned_section_is_moved_with_its_credits(
    ada: FlaskClient, term: Any, cast: Cast
) -> None:
    first = builders.a_section(builders.a_course("ART-1"), term)
    other = builders.a_section(builders.a_course("BIO-1"), term, credits_min=1, credits_max=3)
    for each in (first, other):
        toggle(ada, term, add=each.id)
    here = f"/terms/{term.id}/sections/{other.id}/plan"
    page = ada.get(here).text
    assert f"Backup for ART 1-{first.number} (choice 1)" in words(page)
    form = {**hidden(page), "do": "move", "place": "else-0"}
    assert ada.post(here, data=form).status_code == 303
    assert planned(term, cast.ada) == [[[first.id], [other.id]]]
    form = {**hidden(ada.get(here).text), "do": "move", "place": "else-7"}
    assert ada.post(here, data=form).status_code == 422
    assert planned(term, cast.ada) == [[[first.id], [other.id]]]
