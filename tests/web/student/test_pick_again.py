"""POST /terms/<t>/sections/<s>/pick once more: the same form again, from another tab, or late."""

from typing import Any

import pytest
from flask.testing import FlaskClient

from portal.backend import backend
from tests import cast as builders
from tests.cast import Cast
from tests.web.pages import DIALOG, address, held, hidden, press, seat, words


@pytest.fixture
def section(term: Any) -> Any:
    return builders.a_section(builders.a_course(title="Data Structures"), term, capacity=1)


def test_form_sent_twice_has_one_effect(
    ada: FlaskClient, term: Any, section: Any, cast: Cast
) -> None:
    form = hidden(ada.get(address(section, "pick")).text)
    for _ in range(2):
        answer = ada.post(address(section, "pick"), data=form)
        assert "You added" in words(ada.get(answer.location).text)
    assert held(term, cast.ada) == [section.id]


def test_second_tab_learns_that_it_is_done(ada: FlaskClient, section: Any) -> None:
    tab = hidden(ada.get(address(section, "pick")).text)
    press(ada, section, "pick")
    answer = ada.post(address(section, "pick"), data=tab)
    assert "You already have" in words(ada.get(answer.location).text)


def test_old_form_sent_after_a_drop_claims_nothing(
    ada: FlaskClient, term: Any, section: Any, cast: Cast
) -> None:
    form = hidden(ada.get(address(section, "pick")).text)
    ada.post(address(section, "pick"), data=form)
    press(ada, section, "drop")
    answer = ada.post(address(section, "pick"), data=form)
    assert "but dropped it later" in words(ada.get(answer.location).text)
    assert held(term, cast.ada) == []


def test_form_sent_again_shows_current_seats(ada: FlaskClient, term: Any, cast: Cast) -> None:
    section = builders.a_section(builders.a_course("MAT-1"), term, capacity=3)
    form = hidden(ada.get(address(section, "pick"), headers=DIALOG).text)
    first = ada.post(address(section, "pick"), data=form, headers=DIALOG)
    assert "2 of 3 open" in words(first.text)
    seat(cast.ben, section)
    again = ada.post(address(section, "pick"), data=form, headers=DIALOG)
    assert "1 of 3 open" in words(again.text)


def test_key_of_another_request_is_refused(ada: FlaskClient, term: Any, section: Any) -> None:
    other = builders.a_section(builders.a_course("MAT-1"), term)
    form = hidden(ada.get(address(section, "pick")).text)
    ada.post(address(section, "pick"), data=form)
    assert ada.post(address(other, "pick"), data=form).status_code == 400


@pytest.mark.parametrize("changed", [{"credits": "3"}, {"wait": "1"}])
def test_key_covers_credits_and_waitlist(
    ada: FlaskClient, term: Any, cast: Cast, changed: dict[str, str]
) -> None:
    section = builders.a_section(builders.a_course("RES-1"), term, credits_min=1, credits_max=3)
    form = hidden(ada.get(address(section, "pick")).text) | {"credits": "2"}
    ada.post(address(section, "pick"), data=form)
    assert ada.post(address(section, "pick"), data=form | changed).status_code == 400
    [seat] = backend().ledger.registrations(term.id, cast.ada.id).enrolled
    assert seat.credits == 200


def test_key_of_one_swap_is_refused_for_another(ada: FlaskClient, term: Any, cast: Cast) -> None:
    one, other, new = (builders.a_section(builders.a_course(f"MAT-{n}"), term) for n in range(3))
    press(ada, one, "pick")
    press(ada, other, "pick")
    form = hidden(ada.get(address(new, f"swap?swap_out={one.id}")).text)
    ada.post(address(new, f"swap?swap_out={one.id}"), data=form)
    assert ada.post(address(new, f"swap?swap_out={other.id}"), data=form).status_code == 400
    assert held(term, cast.ada) == [other.id, new.id]


def test_invalid_key_is_refused(ada: FlaskClient, section: Any) -> None:
    assert ada.post(address(section, "pick"), data={"request": "*"}).status_code == 400
