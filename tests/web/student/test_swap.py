"""GET and POST /terms/<t>/sections/<s>/swap?swap_out=<a>."""

import re
from dataclasses import dataclass
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from portal.backend import backend as parts
from tests import cast as builders
from tests.cast import Cast, Meets
from tests.web.pages import DIALOG, address, cell, held, hidden, press, seat, words
from tests.web.visitors import browser_of


@dataclass(frozen=True)
class Offer:
    """Ada's seat, and sections that she could swap it for; all but the last have one seat."""

    old: Any  # CSC 1100-01
    sibling: Any  # CSC 1100-02
    other: Any  # MAT 1-03, at the same time
    barred: Any  # PHY 1-04, full, without a waitlist, for those who have passed MAT 1010

    def act(self) -> str:
        """Return the action that swaps the old section for another."""
        return f"swap?swap_out={self.old.id}"


@pytest.fixture
def offer(term: Any) -> Offer:
    course, at_ten = builders.a_course(title="Data Structures"), (Meets(),)
    needs = {"prerequisites": {"course": "MAT-1010"}}
    return Offer(
        old=builders.a_section(course, term, capacity=1, meetings=at_ten),
        sibling=builders.a_section(course, term, capacity=1, meetings=at_ten),
        other=builders.a_section(builders.a_course("MAT-1"), term, capacity=1, meetings=at_ten),
        barred=builders.a_section(
            builders.a_course("PHY-1"), term, capacity=0, waitlist=0, **needs
        ),
    )


@pytest.fixture
def ada(app: Flask, cast: Cast, offer: Offer) -> FlaskClient:  # noqa: ARG001
    """Return Ada's browser; she has the old seat."""
    client = browser_of(app, "ada")
    press(client, offer.old, "pick")
    return client


def opened(client: FlaskClient, offer: Offer) -> tuple[str, dict[str, str]]:
    """Return the address and fields of the form that swaps for the other section."""
    where = address(offer.other, offer.act())
    return where, hidden(client.get(where).text)


def waiting(term: Any, student: Any) -> list[tuple[int, int]]:
    """Return the sections that a student waits for, each with the one to drop for it."""
    places = parts().ledger.registrations(term.id, student.id).waiting
    return [(position.section, position.swap_out) for position in places]


def test_form_names_both_sections_of_the_swap(ada: FlaskClient, offer: Offer) -> None:
    text = words(ada.get(address(offer.other, offer.act())).text)
    for result in (
        "Swap CSC 1100-01 for MAT 1-03?",
        "You drop CSC 1100-01 Data Structures",
        "You get MAT 1-03",
        "You keep CSC 1100-01 unless you get MAT 1-03.",
    ):
        assert result in text


def test_claim_of_another_section_of_a_held_course_is_a_swap(
    ada: FlaskClient, offer: Offer
) -> None:
    page = ada.get(address(offer.sibling, "pick"), headers=DIALOG).text
    assert f'hx-post="{address(offer.sibling, offer.act())}"' in page
    assert ">Swap</button>" in page


def test_conflicting_section_can_be_swapped(ada: FlaskClient, offer: Offer) -> None:
    page = ada.get(address(offer.other, "pick")).text
    assert 'data-reason="time_conflict"' in page
    assert page.count(f'href="{address(offer.other, offer.act())}"') == 1


def test_swap_works_without_javascript(
    ada: FlaskClient, term: Any, offer: Offer, cast: Cast
) -> None:
    answer = press(ada, offer.other, offer.act())
    assert (answer.status_code, answer.location) == (303, f"/terms/{term.id}")
    page = ada.get(answer.location).text
    result = "Swapped: you now have MAT 1-03. 4 credits. You dropped CSC 1100-01. Receipt"
    assert result in words(page)
    assert "Enrolled" in cell(page, offer.other)
    assert "Enrolled" not in cell(page, offer.old)
    assert held(term, cast.ada) == [offer.other.id]


def test_htmx_response_updates_both_sections(ada: FlaskClient, offer: Offer) -> None:
    where = address(offer.other, offer.act())
    form = hidden(ada.get(where, headers=DIALOG).text)
    answer = ada.post(where, data=form, headers=DIALOG)
    assert answer.headers["HX-Trigger-After-Settle"] == "fs:close"
    sections = [
        f"{kind}-{each.id}" for kind in ("act", "seats") for each in (offer.old, offer.other)
    ]
    for position in (*sections, "mine", "mine-bar"):
        assert f'hx-swap-oob="true" id="{position}"' in answer.text
    counts = words(answer.text)
    assert (counts.count("0 of 1 open"), counts.count("1 of 1 open")) == (1, 1)


def test_swap_counts_as_no_drop(ada: FlaskClient, term: Any, offer: Offer, cast: Cast) -> None:
    press(ada, offer.other, offer.act())
    assert parts().ledger.drops(term.id, cast.ada.id) == {}


def test_swap_to_a_full_section_waits_and_keeps_the_old_seat(
    ada: FlaskClient, ben: FlaskClient, term: Any, offer: Offer, cast: Cast
) -> None:
    press(ben, offer.other, "pick")
    text = words(ada.get(address(offer.other, offer.act())).text)
    assert "Keep CSC 1100-01 and join the waitlist for MAT 1-03?" in text
    assert "You drop CSC 1100-01 only when you get MAT 1-03." in text
    page = words(ada.get(press(ada, offer.other, offer.act()).location).text)
    assert "You keep CSC 1100-01 until you get a seat in MAT 1-03." in page
    assert held(term, cast.ada) == [offer.old.id]
    assert waiting(term, cast.ada) == [(offer.other.id, offer.old.id)]


def test_old_seat_is_kept_if_the_last_seat_is_gone(
    ada: FlaskClient, ben: FlaskClient, term: Any, offer: Offer, cast: Cast
) -> None:
    where, form = opened(ada, offer)
    press(ben, offer.other, "pick")
    answer = ada.post(where, data=form)
    assert answer.status_code == 422
    assert "You keep CSC 1100-01. You can’t swap yet" in words(answer.text)
    assert 'data-reason="full"' in answer.text
    assert held(term, cast.ada) == [offer.old.id]
    # The reason's next step is the form's own button.
    assert "Join waitlist, keep CSC 1100-01</button>" in answer.text
    assert "reason-step" not in answer.text


def test_swap_joins_the_waitlist_if_accepted(
    ada: FlaskClient, ben: FlaskClient, term: Any, offer: Offer, cast: Cast
) -> None:
    where, form = opened(ada, offer)
    press(ben, offer.other, "pick")
    assert ada.post(where, data={**form, "wait": "1"}).status_code == 303
    assert held(term, cast.ada) == [offer.old.id]
    assert waiting(term, cast.ada) == [(offer.other.id, offer.old.id)]


def test_refusal_has_every_reason_and_a_receipt(
    ada: FlaskClient, term: Any, offer: Offer, cast: Cast
) -> None:
    answer = ada.post(address(offer.barred, offer.act()))
    assert answer.status_code == 422
    for result in ('data-reason="prerequisite"', 'data-reason="full"', 'href="/receipts/'):
        assert result in answer.text
    assert held(term, cast.ada) == [offer.old.id]


def test_refusal_begins_with_what_the_student_cannot_change(
    app: Flask, term: Any, offer: Offer
) -> None:
    at_noon = (Meets("MR", "12:00", "12:50"),)
    kept, full = (
        builders.a_section(builders.a_course(code), term, meetings=at_noon, **room)
        for code, room in (("BIO-1", {}), ("CHE-1", {"capacity": 0, "waitlist": 0}))
    )
    ada = browser_of(app, "ada")
    for each in (offer.old, kept):
        press(ada, each, "pick")
    answer = ada.post(address(full, offer.act()), data={"wait": "1"})
    shown = re.findall(r'<li data-reason="(\w+)"', answer.text)
    assert shown == ["waitlist_full", "time_conflict"]


def test_section_can_be_claimed_without_a_swap_after_a_drop(
    ada: FlaskClient, term: Any, offer: Offer, cast: Cast
) -> None:
    where, form = opened(ada, offer)
    press(ada, offer.old, "drop")
    answer = ada.post(where, data=form)
    assert answer.status_code == 422
    assert "You don’t have CSC 1100-01" in words(answer.text)
    assert f'href="{address(offer.other, "pick")}"' in answer.text
    assert held(term, cast.ada) == []


def test_form_sent_twice_has_one_effect(
    ada: FlaskClient, term: Any, offer: Offer, cast: Cast
) -> None:
    where, form = opened(ada, offer)
    for _ in range(2):
        answer = ada.post(where, data=form)
        assert "Swapped: you now have MAT 1-03." in words(ada.get(answer.location).text)
    assert held(term, cast.ada) == [offer.other.id]


def test_second_tab_learns_that_it_is_done(ada: FlaskClient, offer: Offer) -> None:
    where = address(offer.other, offer.act())
    tab = hidden(ada.get(where).text)
    press(ada, offer.other, offer.act())
    answer = ada.post(where, data=tab)
    assert "You already have MAT 1-03." in words(ada.get(answer.location).text)


def test_waitlist_position_is_kept_when_it_becomes_a_swap(
    ada: FlaskClient, term: Any, offer: Offer, cast: Cast
) -> None:
    seat(cast.ben, offer.other)
    press(ada, offer.old, "drop")
    press(ada, offer.other, "pick")  # a place in line
    press(ada, offer.old, "pick")
    text = words(ada.get(address(offer.other, offer.act())).text)
    assert "Drop CSC 1100-01 when you get MAT 1-03?" in text
    assert "You keep position 1 on the waitlist for MAT 1-03." in text
    page = words(ada.get(press(ada, offer.other, offer.act()).location).text)
    assert "You keep CSC 1100-01 until you get a seat in MAT 1-03." in page
    assert waiting(term, cast.ada) == [(offer.other.id, offer.old.id)]
    assert 'data-reason="already_waiting"' in ada.get(address(offer.other, offer.act())).text


def test_swap_without_waiting_is_refused_for_a_waiting_student(
    ada: FlaskClient, term: Any, offer: Offer, cast: Cast
) -> None:
    seat(cast.ben, offer.other)
    press(ada, offer.old, "drop")
    press(ada, offer.other, "pick")  # a place in line
    press(ada, offer.old, "pick")
    answer = press(ada, offer.other, offer.act(), wait="")
    assert answer.status_code == 422
    assert 'data-reason="already_waiting"' in answer.text
    assert waiting(term, cast.ada) == [(offer.other.id, 0)]


@pytest.mark.parametrize("query", ["", "?swap_out=", "?swap_out=x", "?swap_out=-1"])
def test_swap_address_without_a_held_section_is_not_found(
    ada: FlaskClient, offer: Offer, query: str
) -> None:
    assert ada.get(address(offer.other, "swap") + query).status_code == 400


def test_section_cannot_be_swapped_for_itself(ada: FlaskClient, offer: Offer) -> None:
    for old in (offer.old.id, 999_999):
        assert ada.get(address(offer.old, f"swap?swap_out={old}")).status_code == 404
        assert ada.post(address(offer.old, f"swap?swap_out={old}")).status_code == 404


def test_page_is_for_students(app: Flask, offer: Offer) -> None:
    path = address(offer.other, offer.act())
    assert browser_of(app, "iris").post(path).status_code == 403
