"""POST /terms/<t>/plan/submit."""

import json
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select

from portal.backend import backend as parts
from portal.db import transaction
from portal.embedded import Servers
from portal.people.models import Hold
from portal.plans import pack
from portal.plans.plan import Line, Plan, add
from portal.plans.store import change
from portal.record.drain import drain
from portal.record.models import Event
from portal.record.receipts import code
from tests import cast as builders
from tests.cast import Cast, Meets
from tests.plans.outages import away, settled
from tests.plans.plans import line
from tests.test_health import stalled
from tests.web.plans import own_fields, planned, result, submission
from tests.web.visitors import browser_of
from tests.web.visits import DIALOG, held, press, words


def a_class(term: Any, code: str, **fields: Any) -> Any:
    return builders.a_section(builders.a_course(code), term, **fields)


def plan(term: Any, student: Any, *lines: Line) -> None:
    """Keep a plan of these lines."""
    change(term.id, student.id, 0, lambda _: Plan(lines))


def submit(client: FlaskClient, term: Any, page: str = "plan", **options: Any) -> Any:
    """Press the button on a page of the term."""
    form = submission(client.get(f"/terms/{term.id}/{page}".rstrip("/")).text)
    return client.post(f"/terms/{term.id}/plan/submit", data=form, **options)


def send(client: FlaskClient, term: Any, *lines: Line, **fields: Any) -> Any:
    data = {"plan": pack.write(Plan(lines)), "request": "one-key-of-many", **fields}
    return client.post(f"/terms/{term.id}/plan/submit", data=data)


def test_every_line_is_told_with_its_result_and_receipt(
    ada: FlaskClient, ben: FlaskClient, term: Any, cast: Cast
) -> None:
    free, full = a_class(term, "CSC-1100"), a_class(term, "MAT-1010", capacity=1)
    needy = a_class(term, "PHY-1", prerequisites={"course": "MAT-9"})
    mine = a_class(term, "ART-1")
    press(ben, full, "pick")
    press(ada, mine, "pick")
    plan(term, cast.ada, *(line(each.id) for each in (free, full, needy, mine)))
    page = submit(ada, term).text
    assert "1 selected, 1 on a waitlist, 1 yours already, 1 refused" in words(page)
    outcomes = ("enrolled", "waitlisted", "refused", "had")
    for number, outcome in enumerate(outcomes, 1):
        assert f'data-outcome="{outcome}"' in result(page, number)
    assert f"Place 1 on the waitlist of MAT 1010-{full.number}." in words(result(page, 2))
    assert 'data-reason="prerequisite"' in result(page, 3)
    assert held(term, cast.ada) == [free.id, mine.id]
    for event in journal(term, cast.ada)[-4:]:
        assert code(term.id, event) in page


def journal(term: Any, student: Any) -> list[int]:
    """The numbers of a student's events."""
    drain(term.id)
    found = select(Event.seq).where(Event.term_id == term.id, Event.student_id == student.id)
    with transaction() as session:
        return list(session.scalars(found.order_by(Event.seq)))


def test_the_best_choice_that_can_be_had_is_taken_and_why_no_better_one(
    ada: FlaskClient, ben: FlaskClient, term: Any, cast: Cast
) -> None:
    course = builders.a_course()
    full, free = (builders.a_section(course, term, capacity=each) for each in (1, 5))
    press(ben, full, "pick")
    plan(term, cast.ada, line(full.id, free.id))
    told = result(submit(ada, term).text, 1)
    assert 'data-outcome="enrolled"' in told
    assert "It is your choice no. 2." in words(told)
    assert f"Why not CSC 1100-{full.number}:" in words(told)
    assert 'data-reason="full"' in told or 'data-reason="waitlist_full"' in told
    assert held(term, cast.ada) == [free.id]


def test_what_is_linked_is_had_together_or_not_at_all(
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


def test_what_was_had_leaves_the_plan_and_what_was_refused_stays(
    ada: FlaskClient, term: Any, cast: Cast
) -> None:
    free = a_class(term, "CSC-1100")
    needy = a_class(term, "PHY-1", prerequisites={"course": "MAT-9"})
    plan(term, cast.ada, line(free.id), line(needy.id))
    submit(ada, term)
    assert planned(term, cast.ada) == [[[needy.id]]]


def test_pressed_twice_it_counts_once_and_says_the_same(
    ada: FlaskClient, term: Any, cast: Cast
) -> None:
    section = a_class(term, "CSC-1100")
    plan(term, cast.ada, line(section.id))
    form = submission(ada.get(f"/terms/{term.id}/plan").text)
    first, second = (ada.post(f"/terms/{term.id}/plan/submit", data=form) for _ in range(2))
    assert result(first.text, 1) == result(second.text, 1)
    assert "This is what was decided when you first pressed." in second.text
    assert len(journal(term, cast.ada)) == 1


def test_from_another_tab_it_is_yours_already_and_no_fallback_is_taken(
    ada: FlaskClient, term: Any, cast: Cast
) -> None:
    one, other = a_class(term, "CSC-1100"), a_class(term, "MAT-1010")
    plan(term, cast.ada, line(one.id, other.id))
    tabs = [submission(ada.get(f"/terms/{term.id}/plan").text) for _ in range(2)]
    pages = [ada.post(f"/terms/{term.id}/plan/submit", data=form).text for form in tabs]
    assert 'data-outcome="had"' in result(pages[1], 1)
    assert held(term, cast.ada) == [one.id]


def test_in_a_dialog_all_that_changed_is_put_in_place(
    ada: FlaskClient, term: Any, cast: Cast
) -> None:
    section = a_class(term, "CSC-1100", capacity=1)
    plan(term, cast.ada, line(section.id))
    answer = submit(ada, term, page="", headers=DIALOG)
    assert "<html" not in answer.text
    for place in (f"act-{section.id}", f"seats-{section.id}", "mine", "mine-bar", "plan"):
        assert f'hx-swap-oob="true" id="{place}"' in answer.text
    assert 'data-outcome="enrolled"' in answer.text
    assert "0 of 1 open" in words(answer.text)
    assert 'data-sections=""' in answer.text


def test_before_it_opens_nothing_is_lost_and_it_is_said_once_when(
    ada: FlaskClient, cast: Cast
) -> None:
    term = builders.a_term("Spring 2031")
    builders.a_coming_window(term)
    sections = [a_class(term, each) for each in ("CSC-1100", "MAT-1010")]
    plan(term, cast.ada, *(line(each.id) for each in sections))
    answer = submit(ada, term)
    assert answer.status_code == 422
    assert answer.text.count('data-reason="window_before"') == 1
    assert "Nothing is lost: your plan stays as it is." in answer.text
    assert len(planned(term, cast.ada)) == 2
    assert held(term, cast.ada) == []


def test_a_hold_is_told_once(ada: FlaskClient, term: Any, cast: Cast) -> None:
    with transaction() as session:
        session.add(Hold(student_id=cast.ada.id, kind="fees", reason="Unpaid fees"))
    sections = [a_class(term, each) for each in ("CSC-1100", "MAT-1010")]
    plan(term, cast.ada, *(line(each.id) for each in sections))
    assert submit(ada, term).text.count('data-reason="hold"') == 1


def test_of_two_that_clash_the_first_is_had(ada: FlaskClient, term: Any, cast: Cast) -> None:
    one, other = (a_class(term, each, meetings=(Meets(),)) for each in ("CSC-1100", "MAT-1010"))
    plan(term, cast.ada, line(one.id), line(other.id))
    page = submit(ada, term).text
    assert 'data-reason="time_conflict"' in result(page, 2)
    assert held(term, cast.ada) == [one.id]


def test_credits_that_were_chosen_are_those_that_are_had(
    ada: FlaskClient, term: Any, cast: Cast
) -> None:
    section = a_class(term, "RES-1", credits_min=1, credits_max=15)
    change(
        term.id,
        cast.ada.id,
        0,
        lambda _: pack.unpack([{"options": [[[section.id, 700]]], "wait": True}]),
    )
    submit(ada, term)
    assert parts().ledger.standing(term.id, cast.ada.id).enrolled[0].credits == 700


def test_what_is_seen_is_what_is_submitted(ada: FlaskClient, term: Any, cast: Cast) -> None:
    seen, later = a_class(term, "CSC-1100"), a_class(term, "MAT-1010")
    plan(term, cast.ada, line(seen.id))
    form = submission(ada.get(f"/terms/{term.id}/plan").text)
    change(term.id, cast.ada.id, 1, lambda found: add(found, line(later.id).options[0]))
    ada.post(f"/terms/{term.id}/plan/submit", data=form)
    assert held(term, cast.ada) == [seen.id]
    assert planned(term, cast.ada) == [[[later.id]]]


def test_it_works_while_postgresql_is_away(ada: FlaskClient, term: Any, cast: Cast) -> None:
    section = a_class(term, "CSC-1100")
    plan(term, cast.ada, line(section.id))
    settled()
    form = submission(ada.get(f"/terms/{term.id}/plan").text)
    with away():
        answer = ada.post(f"/terms/{term.id}/plan/submit", data=form)
    assert (answer.status_code, held(term, cast.ada)) == (200, [section.id])
    again = submit(ada, term).text
    assert 'data-outcome="had"' in result(again, 1)
    assert planned(term, cast.ada) == []


def test_where_nobody_knows_what_came_of_it_the_same_plan_is_sent_again(
    ada: FlaskClient, servers: Servers, term: Any, cast: Cast
) -> None:
    section = a_class(term, "CSC-1100")
    plan(term, cast.ada, line(section.id))
    form = submission(ada.get(f"/terms/{term.id}/plan").text)
    here = f"/terms/{term.id}/plan/submit"
    ada.post(here, data=form)  # decided, but say that nobody heard of it
    with stalled(servers, "valkey"):
        answer = ada.post(here, data={**form, "unsure": "1"})
    assert answer.status_code == 503
    assert "We don’t know yet whether it went through" in words(answer.text)
    again = own_fields(answer.text)
    assert again == {**again, **form, "csrf_token": again["csrf_token"], "unsure": "1"}
    assert 'data-outcome="enrolled"' in result(ada.post(here, data=again).text, 1)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "nonsense",
        "[]",
        "{}",
        json.dumps([{"options": [[[1]]], "wait": True}] * 30),
        json.dumps([{"options": [[["x"]]], "wait": True}]),
        "[" * 10_000,
    ],
)
def test_what_is_no_plan_is_refused(ada: FlaskClient, term: Any, text: str) -> None:
    assert send(ada, term, plan=text).status_code == 400


def test_a_section_that_was_never_offered_is_refused_with_the_reason(
    ada: FlaskClient, term: Any, cast: Cast
) -> None:
    section = a_class(term, "CSC-1100")
    page = send(ada, term, line(999_999), line(section.id)).text
    assert 'data-reason="section_unknown"' in result(page, 1)
    assert held(term, cast.ada) == [section.id]


def test_a_key_that_stood_for_another_plan_is_refused(
    ada: FlaskClient, term: Any, cast: Cast
) -> None:
    one, other = a_class(term, "CSC-1100"), a_class(term, "MAT-1010")
    send(ada, term, line(one.id))
    assert send(ada, term, line(other.id)).status_code == 400
    assert held(term, cast.ada) == [one.id]


def test_it_needs_no_plan_that_is_kept(ada: FlaskClient, term: Any, cast: Cast) -> None:
    section = a_class(term, "CSC-1100")
    assert send(ada, term, line(section.id)).status_code == 200
    assert held(term, cast.ada) == [section.id]


def test_it_is_for_students(app: Flask, term: Any) -> None:
    assert send(browser_of(app, "iris"), term, line(1)).status_code == 403


def test_there_is_no_such_term(ada: FlaskClient) -> None:
    data = {"plan": pack.write(Plan((line(1),))), "request": "one-key-of-many"}
    assert ada.post("/terms/999999/plan/submit", data=data).status_code == 404
