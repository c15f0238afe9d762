"""Holds and clashes stand on every page of a student until they are seen to."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from portal.backend import Backend
from portal.core.db import transaction
from portal.people import holds, permissions, student_profile
from portal.people.holds import NewHold
from portal.people.permissions import NewPermission
from portal.recorder.recorder import drain
from portal.registration import adjustments
from portal.registration.adjustments import Adjustment
from tests import cast as builders
from tests.cast import Cast, Meets
from tests.web.ledger_outage import ledger_away
from tests.web.pages import press, seat, words

PAGES = ("", "/mine", "/plan", "/schedule", "/room")
HELD = "There is a hold on your record: a bill is unpaid. Contact the bursar to have it lifted."
CLASH = "CSC 1100-01 and PHY 2000-02 meet at the same time (Mon 10:00–11:00 am)."


def hold(cast: Cast, **fields: Any) -> None:
    wish = NewHold(
        **{"kind": "Bursar", "reason": "a bill is unpaid", "office": "the bursar", **fields}
    )
    holds.place(cast.ada.id, wish, by=cast.max.id, why="Unpaid.")
    student_profile._profiles.clear()  # noqa: SLF001  rather than wait two seconds


@pytest.fixture
def clashing(term: Any, cast: Cast) -> tuple[Any, Any]:
    """Two sections at the same time, both of which Ada has."""
    monday = (Meets("M", "10:00", "11:00"),)
    made = [
        builders.a_section(builders.a_course(code), term, meetings=monday)
        for code in ("CSC-1100", "PHY-2000")
    ]
    for section in made:
        give(cast, section)
    drain(term.id)
    return made[0], made[1]


def give(cast: Cast, section: Any) -> None:
    """A seat that the registrar gives Ada past the clash."""
    change = Adjustment(section.term_id, cast.ada.id, add=section.id, overrides=("time_conflict",))
    key = f"{section.id:032}"
    adjustments.adjust(change, why="Agreed.", by=cast.max.id, request=key, correlation="")


@pytest.mark.parametrize("page", PAGES)
def test_every_page_says_why_there_is_a_hold_and_who_lifts_it(
    ada: FlaskClient, cast: Cast, term: Any, page: str
) -> None:
    hold(cast)
    told = words(ada.get(f"/terms/{term.id}{page}").text)
    assert HELD in told
    assert "You keep the classes you have." in told


def test_a_hold_is_shown_in_the_lobby_before_the_window_opens(ada: FlaskClient, cast: Cast) -> None:
    term = builders.a_term()
    builders.a_coming_window(term)
    hold(cast)
    assert HELD in words(ada.get(f"/terms/{term.id}").text)


def test_a_hold_without_an_office_leads_to_the_registrar(
    ada: FlaskClient, cast: Cast, term: Any
) -> None:
    hold(cast, office="")
    assert "Contact the registrar" in words(ada.get(f"/terms/{term.id}").text)


def test_a_hold_that_is_to_come_is_announced_and_one_that_is_over_is_not(
    ada: FlaskClient, cast: Cast, term: Any
) -> None:
    now = datetime.now(UTC)
    hold(cast, starts_at=now + timedelta(days=30))
    told = words(ada.get(f"/terms/{term.id}").text)
    assert "A hold on your record starts" in told
    assert HELD not in told
    hold(cast, reason="an old bill", ends_at=now - timedelta(days=1))
    assert "an old bill" not in ada.get(f"/terms/{term.id}").text


def test_a_hold_that_is_lifted_is_gone_from_the_pages(
    ada: FlaskClient, cast: Cast, term: Any
) -> None:
    page = f"/terms/{term.id}"
    before = ada.get(page).text
    assert 'id="attention" hidden' in before
    hold(cast)
    assert 'id="attention">' in ada.get(page).text


@pytest.mark.parametrize("page", PAGES)
def test_every_page_names_both_sections_of_a_clash_until_one_is_given_up(
    ada: FlaskClient, clashing: Any, page: str
) -> None:
    one, other = clashing
    address = f"/terms/{one.term_id}{page}"
    assert CLASH in words(ada.get(address).text)
    press(ada, other, "drop")
    assert "meet at the same time" not in words(ada.get(address).text)


def test_a_clash_that_the_student_is_permitted_is_no_matter(
    ada: FlaskClient, clashing: Any, cast: Cast
) -> None:
    permit = NewPermission(cast.ada.id, clashing[0].id, ["time_conflict"], "Agreed.")
    with transaction() as session:
        permissions.grant(session, permit, cast.max.id)
    student_profile._profiles.clear()  # noqa: SLF001
    assert CLASH not in words(ada.get(f"/terms/{clashing[0].term_id}").text)


def test_others_read_nothing_of_it(app: Flask, ben: FlaskClient, clashing: Any, cast: Cast) -> None:
    hold(cast)
    told = ben.get(f"/terms/{clashing[0].term_id}").text
    assert 'id="attention" hidden' in told
    assert app


@pytest.mark.parametrize("page", ["", "/schedule"])
def test_it_is_told_while_the_ledger_is_away_too(
    ada: FlaskClient, backend: Backend, clashing: Any, cast: Cast, page: str
) -> None:
    hold(cast)
    address = f"/terms/{clashing[0].term_id}{page}"
    with ledger_away(backend):
        told = words(ada.get(address).text)
    assert HELD in told
    assert CLASH in told


def test_an_open_page_is_sent_it_without_a_reload(ada: FlaskClient, cast: Cast, term: Any) -> None:
    section = builders.a_section(builders.a_course(), term)
    seat(cast.ada, section)
    page = ada.get(f"/terms/{term.id}").text
    mark = page.split('data-mark="')[1].split('"')[0]
    part = f"/live/fragments?term={term.id}&mark={mark}"
    assert 'id="attention"' not in ada.get(part).text
    hold(cast)
    assert HELD in words(ada.get(part).text)
