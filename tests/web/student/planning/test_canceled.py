"""A plan whose section the registrar has canceled or deleted."""

import json
from typing import Any

import pytest
from flask.testing import FlaskClient
from sqlalchemy import func

from portal.catalog.term_catalog import forget
from tests import cast as builders
from tests.cast import Cast, Meets
from tests.notifications.stories import set_section
from tests.registration.plan_makers import line
from tests.web.pages import HTMX, held, press, words
from tests.web.student.plans import a_class, panel, plan, planned, result, send, submission, submit

PAGES = ("", "/plan")


@pytest.fixture
def term(cast: Cast) -> Any:  # noqa: ARG001
    found = builders.a_term()
    builders.an_open_window(found)
    return found


def cancel(section: Any, **more: Any) -> None:
    set_section(section, status="CANCELED", **more)
    forget()


@pytest.mark.parametrize("page", PAGES)
def test_a_canceled_choice_counts_for_nothing(
    ada: FlaskClient, term: Any, cast: Cast, page: str
) -> None:
    course = builders.a_course("ART-160")
    lost = builders.a_section(course, term, meetings=(Meets(),))
    builders.a_section(course, term)
    mine, other = a_class(term, "CSC-1100", meetings=(Meets(),)), a_class(term, "MAT-1010")
    press(ada, mine, "pick")
    plan(term, cast.ada, line(lost.id), line(other.id))
    cancel(lost)
    shown = panel(ada.get(f"/terms/{term.id}{page}").text)
    text = words(shown)
    assert "8 of 21 credits with your plan" in text
    assert "Submit plan 4 credits" in text
    assert f"ART 160-{lost.number} has been canceled." in text
    assert ("Other sections of ART 160" in text) == bool(page)
    assert 'data-reason="time_conflict"' not in shown
    assert "Swap" not in text
    assert shown.count('value="hurry"') == (1 if page else 0)
    assert shown.count('value="remove"') == (2 if page else 0)
    assert shown.count("data-first") == 1
    assert f'data-gone="{lost.id}"' in shown


def test_submitting_leaves_a_canceled_choice_out(ada: FlaskClient, term: Any, cast: Cast) -> None:
    lost, other = a_class(term, "ART-160"), a_class(term, "CSC-1100")
    plan(term, cast.ada, line(lost.id), line(other.id))
    cancel(lost)
    answer = submit(ada, term)
    assert "1 added" in words(answer.text)
    assert "refused" not in answer.text
    assert held(term, cast.ada) == [other.id]
    assert planned(term, cast.ada) == [[[lost.id]]]


def test_a_canceled_choice_of_an_older_page_offers_no_permission(
    ada: FlaskClient, term: Any
) -> None:
    lost = a_class(term, "ART-160", prerequisites={"course": "MAT-9"})
    cancel(lost)
    text = result(send(ada, term, line(lost.id)).text, 1)
    assert 'data-reason="section_canceled"' in text
    assert "Ask" not in words(text)


def test_the_backup_of_a_canceled_section_takes_its_place(
    ada: FlaskClient, term: Any, cast: Cast
) -> None:
    lost, backup = a_class(term, "ART-160"), a_class(term, "CSC-1100", meetings=(Meets(),))
    other = a_class(term, "MAT-1010", meetings=(Meets(),))
    plan(term, cast.ada, line(lost.id, backup.id), line(other.id))
    cancel(lost)
    shown = panel(ada.get(f"/terms/{term.id}/plan").text)
    assert "Submit plan 8 credits" in words(shown)
    assert "If all are full" not in words(shown)
    assert shown.count('data-reason="time_conflict"') == 1
    assert shown.index(f"MAT 1010-{other.number}") < shown.index('data-reason="time_conflict"')
    sent = json.loads(submission(shown)["plan"])
    assert [each["options"] for each in sent] == [[[[backup.id]]], [[[other.id]]]]
    submit(ada, term)
    assert held(term, cast.ada) == [backup.id]


def test_a_canceled_alternative_is_skipped(ada: FlaskClient, term: Any, cast: Cast) -> None:
    first, lost = a_class(term, "CSC-1100"), a_class(term, "ART-160")
    plan(term, cast.ada, line(first.id, lost.id))
    cancel(lost)
    shown = panel(ada.get(f"/terms/{term.id}/plan").text)
    assert f"ART 160-{lost.number} has been canceled." in words(shown)
    assert "If it is full, put me on its waitlist" in words(shown)
    assert json.loads(submission(shown)["plan"]) == [{"options": [[[first.id]]], "wait": True}]


def test_nothing_is_submitted_of_a_plan_that_is_gone(
    ada: FlaskClient, term: Any, cast: Cast
) -> None:
    canceled, deleted = a_class(term, "ART-160"), a_class(term, "CSC-1100")
    plan(term, cast.ada, line(canceled.id), line(deleted.id))
    cancel(canceled)
    cancel(deleted, deleted_at=func.now())
    shown = panel(ada.get(f"/terms/{term.id}/plan").text)
    assert "0 of 21 credits with your plan" in words(shown)
    assert "This section is no longer offered." in words(shown)
    assert "Submit plan" not in words(shown)
    assert "waitlist" not in words(shown)


def test_nothing_is_submitted_of_a_plan_that_i_have(
    ada: FlaskClient, term: Any, cast: Cast
) -> None:
    mine = a_class(term, "CSC-1100")
    press(ada, mine, "pick")
    plan(term, cast.ada, line(mine.id))
    shown = panel(ada.get(f"/terms/{term.id}/plan").text)
    assert "Submit plan" not in words(shown)
    assert f"You already have CSC 1100-{mine.number}." in words(shown)
    assert 'value="remove"' in shown


def test_a_section_canceled_meanwhile_is_not_planned(
    ada: FlaskClient, term: Any, cast: Cast
) -> None:
    lost = a_class(term, "ART-160")
    cancel(lost)
    answer = ada.post(f"/terms/{term.id}/plan/toggle", data={"add": lost.id}, headers=HTMX)
    assert answer.status_code == 200
    assert f"ART 160-{lost.number} has been canceled." in words(answer.text)
    assert planned(term, cast.ada) == []
    plan(term, cast.ada, line(lost.id))
    ada.post(f"/terms/{term.id}/plan/toggle", data={"remove": lost.id}, headers=HTMX)
    assert planned(term, cast.ada) == []


def test_after_the_window_a_plan_warns_of_nothing(ada: FlaskClient, cast: Cast) -> None:
    term = builders.a_term("Spring 2031")
    builders.an_ended_window(term)
    classes = [a_class(term, code, meetings=(Meets(),)) for code in ("CSC-1100", "MAT-1010")]
    plan(term, cast.ada, *(line(each.id) for each in classes))
    shown = panel(ada.get(f"/terms/{term.id}/plan").text)
    assert "plan-wait" not in shown
    assert "data-reason" not in shown


def test_pages_offer_no_canceled_section(ada: FlaskClient, term: Any, cast: Cast) -> None:
    lost, other = (a_class(term, code, meetings=(Meets(),)) for code in ("ART-160", "CSC-1100"))
    press(ada, other, "pick")
    plan(term, cast.ada, line(lost.id))
    cancel(lost)
    here = f"/terms/{term.id}/sections/{lost.id}"
    for page in ("", "/pick"):
        text = ada.get(f"{here}{page}").text
        assert f"ART 160-{lost.number} has been canceled." in words(text)
        assert "Add class" not in words(text)
        assert "waitlist" not in words(text)
        assert 'data-reason="time_conflict"' not in text


def test_a_canceled_section_has_no_other_place_in_a_plan(
    ada: FlaskClient, term: Any, cast: Cast
) -> None:
    lost, other = a_class(term, "ART-160"), a_class(term, "CSC-1100")
    plan(term, cast.ada, line(lost.id), line(other.id))
    cancel(lost)
    text = words(ada.get(f"/terms/{term.id}/sections/{lost.id}/plan").text)
    assert f"ART 160-{lost.number} has been canceled." in text
    assert "You can still plan it" not in text
    assert "Move" not in text
    assert "Remove from plan" in text
