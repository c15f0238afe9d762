"""POST /terms/<t>/plan/submit."""

from html import unescape
from typing import Any

from flask.testing import FlaskClient

from portal.backend import backend as parts
from portal.core.db import transaction
from portal.people.models import Hold
from portal.recorder.receipts import code
from portal.registration import plans
from portal.registration.plan_store import change
from tests import cast as builders
from tests.cast import Cast, Meets
from tests.registration.plan_makers import line
from tests.web.pages import DIALOG, held, press, words
from tests.web.student.plans import a_class, journal, plan, planned, result, submit


def test_every_choice_shows_its_result_and_receipt(
    ada: FlaskClient, ben: FlaskClient, term: Any, cast: Cast
) -> None:
    free, full = a_class(term, "CSC-1100"), a_class(term, "MAT-1010", capacity=1)
    needy = a_class(term, "PHY-1", prerequisites={"course": "MAT-9"})
    mine = a_class(term, "ART-1")
    press(ben, full, "pick")
    press(ada, mine, "pick")
    plan(term, cast.ada, *(line(each.id) for each in (free, full, needy, mine)))
    page = submit(ada, term).text
    assert "1 added, 1 on a waitlist, 1 already yours, 1 refused" in words(page)
    outcomes = ("enrolled", "waitlisted", "refused", "had")
    for number, outcome in enumerate(outcomes, 1):
        assert f'data-outcome="{outcome}"' in result(page, number)
    assert f"You are number 1 on the waitlist for MAT 1010-{full.number}." in words(result(page, 2))
    assert 'data-reason="prerequisite"' in result(page, 3)
    assert held(term, cast.ada) == [free.id, mine.id]
    for event in journal(term, cast.ada)[-4:]:
        assert code(term.id, event) in page


def test_best_possible_alternative_is_taken_and_explained(
    ada: FlaskClient, ben: FlaskClient, term: Any, cast: Cast
) -> None:
    course = builders.a_course()
    full, free = (builders.a_section(course, term, capacity=each) for each in (1, 5))
    press(ben, full, "pick")
    plan(term, cast.ada, line(full.id, free.id))
    text = result(submit(ada, term).text, 1)
    assert 'data-outcome="enrolled"' in text
    assert "This is backup 1: your first choice was refused." in words(text)
    assert f"Why you didn’t get CSC 1100-{full.number}:" in words(text)
    assert 'data-reason="full"' in text or 'data-reason="waitlist_full"' in text
    assert held(term, cast.ada) == [free.id]


def test_refused_choice_leads_to_the_application_that_can_help(
    ada: FlaskClient, term: Any, cast: Cast
) -> None:
    asks = builders.a_section(builders.a_course(), term, consent=True)
    plan(term, cast.ada, line(asks.id))
    text = unescape(result(submit(ada, term).text, 1))
    assert f"/applications/new/consent?section={asks.id}" in text


def test_linked_sections_are_taken_together_or_not_at_all(
    ada: FlaskClient, term: Any, cast: Cast
) -> None:
    lecture = a_class(term, "CHE-1", corequisites={"course": "CHE-1L"})
    lab = a_class(term, "CHE-1L", capacity=0, waitlist=0, corequisites={"course": "CHE-1"})
    other = builders.a_section(builders.a_course("CHE-2L"), term, corequisites={"course": "CHE-2"})
    with_other = a_class(term, "CHE-2", corequisites={"course": "CHE-2L"})
    plan(term, cast.ada, line((lecture.id, lab.id)), line((with_other.id, other.id)))
    page = submit(ada, term).text
    assert 'data-outcome="refused"' in result(page, 1)
    assert 'data-outcome="enrolled"' in result(page, 2)
    assert held(term, cast.ada) == sorted([other.id, with_other.id])


def test_fulfilled_choices_leave_the_plan_and_refused_ones_stay(
    ada: FlaskClient, term: Any, cast: Cast
) -> None:
    free = a_class(term, "CSC-1100")
    needy = a_class(term, "PHY-1", prerequisites={"course": "MAT-9"})
    plan(term, cast.ada, line(free.id), line(needy.id))
    submit(ada, term)
    assert planned(term, cast.ada) == [[[needy.id]]]


def test_dialog_response_updates_the_page(ada: FlaskClient, term: Any, cast: Cast) -> None:
    section = a_class(term, "CSC-1100", capacity=1)
    plan(term, cast.ada, line(section.id))
    answer = submit(ada, term, page="", headers=DIALOG)
    assert "<html" not in answer.text
    for position in (f"act-{section.id}", f"seats-{section.id}", "mine", "mine-bar", "plan"):
        assert f'hx-swap-oob="true" id="{position}"' in answer.text
    assert 'data-outcome="enrolled"' in answer.text
    assert "0 of 1 open" in words(answer.text)
    assert 'data-sections=""' in answer.text


def test_plan_before_the_opening_is_kept_with_one_message(ada: FlaskClient, cast: Cast) -> None:
    term = builders.a_term("Spring 2031")
    builders.a_coming_window(term)
    sections = [a_class(term, each) for each in ("CSC-1100", "MAT-1010")]
    plan(term, cast.ada, *(line(each.id) for each in sections))
    answer = submit(ada, term)
    assert answer.status_code == 422
    assert answer.text.count('data-reason="window_before"') == 1
    assert "Your plan is unchanged." in answer.text
    assert len(planned(term, cast.ada)) == 2
    assert held(term, cast.ada) == []


def test_hold_is_shown_once(ada: FlaskClient, term: Any, cast: Cast) -> None:
    with transaction() as session:
        session.add(Hold(student_id=cast.ada.id, kind="fees", reason="Unpaid fees"))
    sections = [a_class(term, each) for each in ("CSC-1100", "MAT-1010")]
    plan(term, cast.ada, *(line(each.id) for each in sections))
    assert submit(ada, term).text.count('data-reason="hold"') == 1


def test_first_of_two_conflicting_choices_is_taken(ada: FlaskClient, term: Any, cast: Cast) -> None:
    one, other = (a_class(term, each, meetings=(Meets(),)) for each in ("CSC-1100", "MAT-1010"))
    plan(term, cast.ada, line(one.id), line(other.id))
    page = submit(ada, term).text
    assert 'data-reason="time_conflict"' in result(page, 2)
    assert held(term, cast.ada) == [one.id]


def test_chosen_credits_are_taken(ada: FlaskClient, term: Any, cast: Cast) -> None:
    section = a_class(term, "RES-1", credits_min=1, credits_max=15)
    change(
        term.id,
        cast.ada.id,
        0,
        lambda _: plans.unpack([{"options": [[[section.id, 700]]], "wait": True}]),
    )
    submit(ada, term)
    assert parts().ledger.registrations(term.id, cast.ada.id).enrolled[0].credits == 700
