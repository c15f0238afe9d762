"""GET and POST /terms/<t>/sections/<s>/pick."""

from functools import partial
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import update

from portal.backend import backend as parts
from portal.catalog import term_catalog
from portal.catalog.models import Section
from portal.core.db import transaction
from portal.people.models import Hold
from portal.recorder import receipts
from tests import cast as builders
from tests.cast import Cast, Meets
from tests.statements import ledger_commands
from tests.web.pages import DIALOG, address, cell, held, hidden, press, seat, words
from tests.web.visitors import browser_of


@pytest.fixture
def section(term: Any) -> Any:
    return builders.a_section(builders.a_course(title="Data Structures"), term, capacity=1)


def test_form_shows_the_section(ada: FlaskClient, term: Any) -> None:
    course = builders.a_course(title="Data Structures")
    instructor = builders.an_instructor("grace")
    section = builders.a_section(course, term, meetings=(Meets(),), instructor=instructor)
    text = words(ada.get(address(section, "pick")).text)
    for result in (
        f"Add CSC 1100-{section.number}?",
        "Data Structures",
        "Mon Thu 10:00–11:50 am",
        "Grace",
        "4 credits",
        "2 of 2 open",
        "If it fills up before I get a seat, put me on the waitlist",
    ):
        assert result in text


def test_dialog_has_only_the_form(ada: FlaskClient, section: Any) -> None:
    page = ada.get(address(section, "pick"), headers=DIALOG).text
    assert "<html" not in page
    assert f'hx-post="{address(section, "pick")}"' in page


def test_claim_works_without_javascript(
    ada: FlaskClient, term: Any, section: Any, cast: Cast
) -> None:
    answer = press(ada, section, "pick")
    assert (answer.status_code, answer.location) == (303, f"/terms/{term.id}")
    page = ada.get(answer.location).text
    assert f"You added CSC 1100-{section.number}." in words(page)
    assert "Enrolled" in cell(page, section)
    assert held(term, cast.ada) == [section.id]


def test_return_link_keeps_the_search(ada: FlaskClient, term: Any, section: Any) -> None:
    here = f"/terms/{term.id}?q=data&open=1"
    form = ada.get(address(section, "pick"), headers={"Referer": f"http://localhost{here}"})
    answer = ada.post(address(section, "pick"), data=hidden(form.text))
    assert answer.location == here


@pytest.mark.parametrize("back", ["https://evil.example/", "//evil.example", "/logout", "/terms/x"])
def test_return_link_leads_to_no_other_site(
    ada: FlaskClient, term: Any, section: Any, back: str
) -> None:
    assert press(ada, section, "pick", back=back).location == f"/terms/{term.id}"


def test_htmx_response_updates_the_page(ada: FlaskClient, section: Any) -> None:
    form = ada.get(address(section, "pick"), headers=DIALOG)
    answer = ada.post(address(section, "pick"), data=hidden(form.text), headers=DIALOG)
    assert answer.headers["HX-Trigger-After-Settle"] == "fs:close"
    for position in (f"act-{section.id}", f"seats-{section.id}", "mine", "mine-bar"):
        assert f'hx-swap-oob="true" id="{position}"' in answer.text
    assert "Enrolled" in cell_of_part(answer.text)
    assert "0 of 1 open" in words(answer.text)


def test_result_needs_one_call_to_the_ledger_and_none_to_postgresql(
    ada: FlaskClient, term: Any, section: Any, count_queries: list[str]
) -> None:
    """Three claims, because caches look every other second whether they are still current."""
    others = [builders.a_section(builders.a_course(code), term) for code in ("ART-1", "BIO-1")]
    needed = []
    for each in (section, *others):
        form = ada.get(address(each, "pick"), headers=DIALOG)
        count_queries.clear()
        calls = ledger_commands(partial(claim, ada, each, form.text), each.term_id)
        needed.append((len(calls), list(count_queries)))
    assert (1, []) in needed


def claim(ada: FlaskClient, section: Any, form: str) -> None:
    answer = ada.post(address(section, "pick"), data=hidden(form), headers=DIALOG)
    assert "Enrolled" in answer.text


def test_every_result_has_a_receipt(
    ada: FlaskClient, ben: FlaskClient, section: Any, cast: Cast
) -> None:
    answer = ada.post(address(section, "pick"), headers=DIALOG)
    [mine] = parts().ledger.registrations(section.term_id, cast.ada.id).enrolled
    assert f'href="/receipts/{receipts.code(section.term_id, mine.registration)}"' in answer.text
    refused = ben.post(address(section, "pick"), headers=DIALOG)
    assert refused.status_code == 422
    next_one = parts().ledger.seats(section.term_id)[section.id].seq + 1
    assert f'href="/receipts/{receipts.code(section.term_id, next_one)}"' in refused.text


def cell_of_part(html: str) -> str:
    return html[html.index("act-") : html.index("</div>")]


def test_likely_refusals_are_shown_with_next_steps(ada: FlaskClient, term: Any, cast: Cast) -> None:
    with transaction() as session:
        session.add(Hold(student_id=cast.ada.id, kind="fees", reason="Unpaid fees"))
    needs = {"prerequisites": {"course": "MAT-1010"}}
    mine = builders.a_section(builders.a_course("PHY-1"), term, meetings=(Meets(),))
    seat(cast.ada, mine)
    section = builders.a_section(builders.a_course(), term, meetings=(Meets(),), **needs)
    page = ada.get(address(section, "pick")).text
    for code in ("time_conflict", "hold", "prerequisite"):
        assert f'data-reason="{code}"' in page
    assert address(section, "swap") not in page  # no swap helps a student without the course
    assert f"You can’t add CSC 1100-{section.number} yet" in words(page)
    assert "Adding…" not in page


def test_refusal_names_every_reason(ada: FlaskClient, term: Any, cast: Cast) -> None:
    section = builders.a_section(builders.a_course(), term, capacity=0, waitlist=0)
    with transaction() as session:
        session.add(Hold(student_id=cast.ada.id, kind="fees", reason="Unpaid fees"))
    answer = ada.post(address(section, "pick"), data={"wait": "1"})
    assert answer.status_code == 422
    assert 'data-reason="hold"' in answer.text
    assert 'data-reason="waitlist_full"' in answer.text
    assert "Unpaid fees" in answer.text


def test_claim_joins_the_waitlist_if_the_last_seat_is_gone(
    ada: FlaskClient, ben: FlaskClient, section: Any
) -> None:
    form = hidden(ben.get(address(section, "pick")).text)
    press(ada, section, "pick")
    answer = ben.post(address(section, "pick"), data={**form, "wait": "1"})
    page = ben.get(answer.location).text
    assert "Position 1 of 1. If a seat opens, you get it automatically." in words(page)
    assert "Waiting position 1" in words(cell(page, section))


def test_refused_claim_offers_the_waitlist(
    ada: FlaskClient, ben: FlaskClient, section: Any
) -> None:
    form = hidden(ben.get(address(section, "pick")).text)
    press(ada, section, "pick")
    answer = ben.post(address(section, "pick"), data=form)
    assert answer.status_code == 422
    assert 'data-reason="full"' in answer.text
    assert "Join waitlist" in answer.text


def test_form_of_a_full_section_offers_the_waitlist(
    ada: FlaskClient, ben: FlaskClient, section: Any
) -> None:
    press(ada, section, "pick")
    text = words(ben.get(address(section, "pick")).text)
    assert f"Join the waitlist for CSC 1100-{section.number}?" in text
    assert "You would be number 1" in text


def test_credits_of_a_range_are_chosen(ada: FlaskClient, term: Any, cast: Cast) -> None:
    section = builders.a_section(builders.a_course(), term, credits_min=1, credits_max=3)
    assert '<option value="3">3</option>' in ada.get(address(section, "pick")).text
    press(ada, section, "pick", credits="2")
    assert parts().ledger.registrations(term.id, cast.ada.id).enrolled[0].credits == 200


@pytest.mark.parametrize("amount", ["9", "2.5", "many", "-1", "NaN", "1e999"])
def test_credits_beyond_the_range_are_refused(ada: FlaskClient, term: Any, amount: str) -> None:
    section = builders.a_section(builders.a_course(), term, credits_min=1, credits_max=3)
    answer = press(ada, section, "pick", credits=amount)
    assert answer.status_code == 422
    assert 'data-reason="credit_range"' in answer.text


def test_form_shows_when_the_window_opens(ada: FlaskClient) -> None:
    term = builders.a_term("Spring 2031")
    builders.a_coming_window(term)
    section = builders.a_section(builders.a_course(), term)
    page = ada.get(address(section, "pick")).text
    assert 'data-reason="window_before"' in page
    assert "Adding…" not in page
    answer = ada.post(address(section, "pick"))
    assert answer.status_code == 422


def test_unoffered_section_and_draft_are_not_found(ada: FlaskClient, term: Any) -> None:
    draft = builders.a_section(builders.a_course(), term, status="NEW")
    for path in (address(draft, "pick"), f"/terms/{term.id}/sections/999999/pick"):
        assert ada.get(path).status_code == 404
        assert ada.post(path).status_code == 404


def test_form_after_the_window_has_no_button(ada: FlaskClient) -> None:
    term = builders.a_term("Spring 2031")
    builders.an_ended_window(term)
    section = builders.a_section(builders.a_course(), term)
    page = ada.get(address(section, "pick")).text
    assert "Registration has ended" in page
    assert '<div class="ask' not in page
    answer = ada.post(address(section, "pick"))
    assert answer.status_code == 422
    assert 'type="submit">' not in answer.text[answer.text.index('<div class="ask') :]


@pytest.mark.parametrize("act", ["pick", "drop", "leave"])
def test_invisible_section_is_not_found(ada: FlaskClient, term: Any, act: str) -> None:
    hidden_one = builders.a_section(builders.a_course(public=False), term)
    assert ada.get(address(hidden_one, act)).status_code == 404


@pytest.mark.parametrize("capacity", [1, 0], ids=["held", "waited for"])
def test_held_section_has_a_page_even_if_not_listed(
    ada: FlaskClient, term: Any, capacity: int
) -> None:
    section = builders.a_section(builders.a_course(), term, capacity=capacity)
    press(ada, section, "pick", wait="1")
    with transaction() as session:
        gone = update(Section).where(Section.id == section.id).values(status="CONFIRMED")
        session.execute(gone)
    term_catalog.forget()
    assert ada.get(address(section, "pick")).status_code == 200


def test_page_is_for_students(app: Flask, section: Any) -> None:
    assert browser_of(app, "iris").post(address(section, "pick")).status_code == 403


def test_form_needs_a_login(client: FlaskClient, section: Any) -> None:
    answer = client.post(address(section, "pick"))
    assert (answer.status_code, answer.location.partition("?")[0]) == (303, "/login")


@pytest.mark.parametrize(
    ("rule", "offered"),
    [
        ({}, True),
        ({"prerequisites": {"course": "MAT-1010"}}, False),
        ({"capacity": 0, "waitlist": 0}, False),
    ],
    ids=["free", "prerequisite", "full without a waitlist"],
)
def test_swap_is_offered_only_if_it_can_work(
    ada: FlaskClient, term: Any, cast: Cast, rule: dict[str, Any], *, offered: bool
) -> None:
    mine = builders.a_section(builders.a_course("PHY-1"), term)
    seat(cast.ada, mine)
    section = builders.a_section(builders.a_course(), term, **rule)
    page = ada.get(address(section, "pick")).text
    assert ("Swap one of my classes for it" in page) is offered
    assert (address(section, f"swap?swap_out={mine.id}") in page) is offered


def test_exactly_the_swappable_sections_are_named(ada: FlaskClient, term: Any, cast: Cast) -> None:
    clashing = builders.a_section(builders.a_course("PHY-1"), term, meetings=(Meets("MR"),))
    lone = builders.a_section(builders.a_course("ART-1"), term)
    for each in (clashing, lone):
        seat(cast.ada, each)
    section = builders.a_section(builders.a_course(), term, meetings=(Meets("MR"),))
    page = ada.get(address(section, "pick")).text
    assert address(section, f"swap?swap_out={clashing.id}") in page
    assert address(section, f"swap?swap_out={lone.id}") not in page  # the clash would stay


@pytest.mark.parametrize("act", ["pick", "swap", "plan"])
def test_seat_counts_of_a_form_are_live(
    ada: FlaskClient, term: Any, section: Any, act: str, cast: Cast
) -> None:
    mine = builders.a_section(builders.a_course("PHY-1"), term)
    seat(cast.ada, mine)
    page = ada.get(address(section, act), query_string={"swap_out": mine.id}).text
    assert f'data-counts="seats-{section.id}"' in page
    assert f'data-live-term="{term.id}"' in page


def test_form_says_that_the_waitlist_is_full_except_to_who_is_on_it(
    app: Flask, ada: FlaskClient, term: Any
) -> None:
    full = builders.a_section(builders.a_course(), term, capacity=0, waitlist=1)
    press(ada, full, "pick", wait="1")
    reason = 'data-reason="waitlist_full"'
    assert reason in browser_of(app, "ben").get(address(full, "pick")).text
    assert reason not in ada.get(address(full, "pick")).text
