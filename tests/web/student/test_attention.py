"""Holds and time conflicts are on every page of a student until they are resolved."""

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
    choice = NewHold(
        **{"kind": "Bursar", "reason": "a bill is unpaid", "office": "the bursar", **fields}
    )
    holds.place(cast.ada.id, choice, by=cast.max.id, why="Unpaid.")
    student_profile._profiles.clear()  # noqa: SLF001  rather than wait two seconds


@pytest.fixture
def clashing(term: Any, cast: Cast) -> tuple[Any, Any]:
    """Return two sections at the same time, both held by Ada."""
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
    """Give Ada a seat despite the conflict."""
    change = Adjustment(section.term_id, cast.ada.id, add=section.id, overrides=("time_conflict",))
    key = f"{section.id:032}"
    adjustments.adjust(change, why="Agreed.", by=cast.max.id, idempotency_key=key, correlation="")


@pytest.mark.parametrize("page", PAGES)
def test_every_page_shows_a_hold_with_reason_and_office(
    ada: FlaskClient, cast: Cast, term: Any, page: str
) -> None:
    hold(cast)
    text = words(ada.get(f"/terms/{term.id}{page}").text)
    assert HELD in text
    assert "You keep the classes you have." in text


def test_hold_is_shown_in_the_lobby(ada: FlaskClient, cast: Cast) -> None:
    term = builders.a_term()
    builders.a_coming_window(term)
    hold(cast)
    assert HELD in words(ada.get(f"/terms/{term.id}").text)


def test_hold_without_an_office_names_the_registrar(
    ada: FlaskClient, cast: Cast, term: Any
) -> None:
    hold(cast, office="")
    assert "Contact the registrar" in words(ada.get(f"/terms/{term.id}").text)


def test_future_hold_is_announced_and_past_hold_is_not_shown(
    ada: FlaskClient, cast: Cast, term: Any
) -> None:
    now = datetime.now(UTC)
    hold(cast, starts_at=now + timedelta(days=30))
    text = words(ada.get(f"/terms/{term.id}").text)
    assert "A hold on your record starts" in text
    assert HELD not in text
    hold(cast, reason="an old bill", ends_at=now - timedelta(days=1))
    assert "an old bill" not in ada.get(f"/terms/{term.id}").text


def test_lifted_hold_is_not_shown(ada: FlaskClient, cast: Cast, term: Any) -> None:
    page = f"/terms/{term.id}"
    before = ada.get(page).text
    assert 'id="attention" hidden' in before
    hold(cast)
    assert 'id="attention">' in ada.get(page).text


@pytest.mark.parametrize("page", PAGES)
def test_every_page_names_both_conflicting_sections(
    ada: FlaskClient, clashing: Any, page: str
) -> None:
    one, other = clashing
    address = f"/terms/{one.term_id}{page}"
    assert CLASH in words(ada.get(address).text)
    press(ada, other, "drop")
    assert "meet at the same time" not in words(ada.get(address).text)


def test_permitted_conflict_is_not_shown(ada: FlaskClient, clashing: Any, cast: Cast) -> None:
    permit = NewPermission(cast.ada.id, clashing[0].id, ["time_conflict"], "Agreed.")
    with transaction() as session:
        permissions.grant(session, permit, cast.max.id)
    student_profile._profiles.clear()  # noqa: SLF001
    assert CLASH not in words(ada.get(f"/terms/{clashing[0].term_id}").text)


def test_other_students_do_not_see_it(
    app: Flask, ben: FlaskClient, clashing: Any, cast: Cast
) -> None:
    hold(cast)
    text = ben.get(f"/terms/{clashing[0].term_id}").text
    assert 'id="attention" hidden' in text
    assert app


@pytest.mark.parametrize("page", ["", "/schedule"])
def test_attention_is_shown_while_the_ledger_is_down(
    ada: FlaskClient, backend: Backend, clashing: Any, cast: Cast, page: str
) -> None:
    hold(cast)
    address = f"/terms/{clashing[0].term_id}{page}"
    with ledger_away(backend):
        text = words(ada.get(address).text)
    assert HELD in text
    assert CLASH in text


def test_open_page_gets_it_without_a_reload(ada: FlaskClient, cast: Cast, term: Any) -> None:
    section = builders.a_section(builders.a_course(), term)
    seat(cast.ada, section)
    page = ada.get(f"/terms/{term.id}").text
    mark = page.split('data-mark="')[1].split('"')[0]
    part = f"/live/fragments?term={term.id}&mark={mark}"
    assert 'id="attention"' not in ada.get(part).text
    hold(cast)
    assert HELD in words(ada.get(part).text)
