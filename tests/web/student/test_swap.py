"""GET and POST /terms/<t>/sections/<s>/swap?instead=<a>."""

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
    """What Ada has, and what she could have instead; all but the last have one seat."""

    old: Any  # CSC 1100-01
    sibling: Any  # CSC 1100-02
    other: Any  # MAT 1-03, at the same time
    barred: Any  # PHY 1-04, full, without a waitlist, for those who have passed MAT 1010

    def act(self) -> str:
        """What is asked for to have another one instead of the old one."""
        return f"swap?instead={self.old.id}"


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
    """She has the old seat."""
    client = browser_of(app, "ada")
    press(client, offer.old, "pick")
    return client


def opened(client: FlaskClient, offer: Offer) -> tuple[str, dict[str, str]]:
    """The form that swaps for the other one: where it is sent, and what it sends."""
    where = address(offer.other, offer.act())
    return where, hidden(client.get(where).text)


def waiting(term: Any, student: Any) -> list[tuple[int, int]]:
    """The sections that a student waits for, each with the one that goes for it."""
    places = parts().ledger.standing(term.id, student.id).waiting
    return [(place.section, place.instead) for place in places]


def test_the_form_says_what_goes_and_what_comes(ada: FlaskClient, offer: Offer) -> None:
    text = words(ada.get(address(offer.other, offer.act())).text)
    for said in (
        "Swap CSC 1100-01 for MAT 1-03?",
        "You drop CSC 1100-01 Data Structures",
        "You get MAT 1-03",
        "You keep CSC 1100-01 unless you get MAT 1-03.",
    ):
        assert said in text


def test_to_pick_a_sibling_of_what_is_held_is_to_swap_at_once(
    ada: FlaskClient, offer: Offer
) -> None:
    page = ada.get(address(offer.sibling, "pick"), headers=DIALOG).text
    assert f'hx-post="{address(offer.sibling, offer.act())}"' in page
    assert '<button class="btn btn-primary" type="submit">Swap</button>' in page


def test_what_is_in_the_way_can_be_swapped(ada: FlaskClient, offer: Offer) -> None:
    page = ada.get(address(offer.other, "pick")).text
    assert 'data-reason="time_conflict"' in page
    assert page.count(f'href="{address(offer.other, offer.act())}"') == 1


def test_without_javascript_one_goes_and_the_other_comes(
    ada: FlaskClient, term: Any, offer: Offer, cast: Cast
) -> None:
    answer = press(ada, offer.other, offer.act())
    assert (answer.status_code, answer.location) == (303, f"/terms/{term.id}")
    page = ada.get(answer.location).text
    said = "Swapped: you now have MAT 1-03. 4 credits. You dropped CSC 1100-01. Receipt"
    assert said in words(page)
    assert "Enrolled" in cell(page, offer.other)
    assert "Enrolled" not in cell(page, offer.old)
    assert held(term, cast.ada) == [offer.other.id]


def test_with_htmx_both_sections_change_in_place(ada: FlaskClient, offer: Offer) -> None:
    where = address(offer.other, offer.act())
    form = hidden(ada.get(where, headers=DIALOG).text)
    answer = ada.post(where, data=form, headers=DIALOG)
    assert answer.headers["HX-Trigger-After-Settle"] == "fs:close"
    sections = [
        f"{kind}-{each.id}" for kind in ("act", "seats") for each in (offer.old, offer.other)
    ]
    for place in (*sections, "mine", "mine-bar"):
        assert f'hx-swap-oob="true" id="{place}"' in answer.text
    counts = words(answer.text)
    assert (counts.count("0 of 1 open"), counts.count("1 of 1 open")) == (1, 1)


def test_it_uses_no_cancellation_of_the_day(
    ada: FlaskClient, term: Any, offer: Offer, cast: Cast
) -> None:
    press(ada, offer.other, offer.act())
    assert parts().ledger.drops(term.id, cast.ada.id) == {}


def test_a_full_section_is_waited_for_while_the_old_seat_is_kept(
    ada: FlaskClient, ben: FlaskClient, term: Any, offer: Offer, cast: Cast
) -> None:
    press(ben, offer.other, "pick")
    text = words(ada.get(address(offer.other, offer.act())).text)
    assert "Keep CSC 1100-01 and join the waitlist of MAT 1-03?" in text
    assert "You give up CSC 1100-01 only when you get MAT 1-03." in text
    page = words(ada.get(press(ada, offer.other, offer.act()).location).text)
    assert "You keep CSC 1100-01 until you get a seat in MAT 1-03." in page
    assert held(term, cast.ada) == [offer.old.id]
    assert waiting(term, cast.ada) == [(offer.other.id, offer.old.id)]


def test_where_the_last_seat_goes_meanwhile_the_old_one_is_kept(
    ada: FlaskClient, ben: FlaskClient, term: Any, offer: Offer, cast: Cast
) -> None:
    where, form = opened(ada, offer)
    press(ben, offer.other, "pick")
    answer = ada.post(where, data=form)
    assert answer.status_code == 422
    assert "You keep CSC 1100-01. You can’t swap yet" in words(answer.text)
    assert 'data-reason="full"' in answer.text
    assert held(term, cast.ada) == [offer.old.id]
    # What the reason would lead to is the form's own button.
    assert "Join waitlist, keep CSC 1100-01</button>" in answer.text
    assert "reason-step" not in answer.text


def test_a_place_in_line_is_given_where_it_was_welcome(
    ada: FlaskClient, ben: FlaskClient, term: Any, offer: Offer, cast: Cast
) -> None:
    where, form = opened(ada, offer)
    press(ben, offer.other, "pick")
    assert ada.post(where, data={**form, "wait": "1"}).status_code == 303
    assert held(term, cast.ada) == [offer.old.id]
    assert waiting(term, cast.ada) == [(offer.other.id, offer.old.id)]


def test_a_refusal_names_every_reason_and_its_receipt(
    ada: FlaskClient, term: Any, offer: Offer, cast: Cast
) -> None:
    answer = ada.post(address(offer.barred, offer.act()))
    assert answer.status_code == 422
    for said in ('data-reason="prerequisite"', 'data-reason="full"', 'href="/receipts/'):
        assert said in answer.text
    assert held(term, cast.ada) == [offer.old.id]


def test_what_was_given_up_meanwhile_can_be_picked_without_a_swap(
    ada: FlaskClient, term: Any, offer: Offer, cast: Cast
) -> None:
    where, form = opened(ada, offer)
    press(ada, offer.old, "drop")
    answer = ada.post(where, data=form)
    assert answer.status_code == 422
    assert "You don’t have CSC 1100-01" in words(answer.text)
    assert f'href="{address(offer.other, "pick")}"' in answer.text
    assert held(term, cast.ada) == []


def test_a_form_sent_twice_counts_once(
    ada: FlaskClient, term: Any, offer: Offer, cast: Cast
) -> None:
    where, form = opened(ada, offer)
    for _ in range(2):
        answer = ada.post(where, data=form)
        assert "Swapped: you now have MAT 1-03." in words(ada.get(answer.location).text)
    assert held(term, cast.ada) == [offer.other.id]


def test_a_second_tab_is_told_that_it_is_done_already(ada: FlaskClient, offer: Offer) -> None:
    where = address(offer.other, offer.act())
    tab = hidden(ada.get(where).text)
    press(ada, offer.other, offer.act())
    answer = ada.post(where, data=tab)
    assert "You already have MAT 1-03." in words(ada.get(answer.location).text)


def test_a_place_in_line_is_kept_when_it_becomes_one_for_a_swap(
    ada: FlaskClient, term: Any, offer: Offer, cast: Cast
) -> None:
    seat(cast.ben, offer.other)
    press(ada, offer.old, "drop")
    press(ada, offer.other, "pick")  # a place in line
    press(ada, offer.old, "pick")
    text = words(ada.get(address(offer.other, offer.act())).text)
    assert "Give up CSC 1100-01 when you get MAT 1-03?" in text
    assert "You keep position 1 on the waitlist of MAT 1-03." in text
    page = words(ada.get(press(ada, offer.other, offer.act()).location).text)
    assert "You keep CSC 1100-01 until you get a seat in MAT 1-03." in page
    assert waiting(term, cast.ada) == [(offer.other.id, offer.old.id)]
    assert 'data-reason="already_waiting"' in ada.get(address(offer.other, offer.act())).text


def test_a_swap_is_refused_to_a_student_who_waits_already_and_joins_no_waitlist(
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


@pytest.mark.parametrize("query", ["", "?instead=", "?instead=x", "?instead=-1"])
def test_an_address_that_names_nothing_to_give_up_is_a_mistake(
    ada: FlaskClient, offer: Offer, query: str
) -> None:
    assert ada.get(address(offer.other, "swap") + query).status_code == 400


def test_a_section_is_not_swapped_for_itself_or_for_nothing(ada: FlaskClient, offer: Offer) -> None:
    for old in (offer.old.id, 999_999):
        assert ada.get(address(offer.old, f"swap?instead={old}")).status_code == 404
        assert ada.post(address(offer.old, f"swap?instead={old}")).status_code == 404


def test_it_is_for_students(app: Flask, offer: Offer) -> None:
    path = address(offer.other, offer.act())
    assert browser_of(app, "iris").post(path).status_code == 403
