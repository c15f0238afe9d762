"""GET /admin/terms/<t>/sections/<s>/results: who is in a section, who waits, what happened."""

import re

import pytest
from flask import Flask
from flask.testing import FlaskClient

from portal.catalog.models import Section
from portal.recorder import participants
from portal.recorder.recorder import drain
from tests.cast import Cast
from tests.web.admin.students.forms import look, press, text_of
from tests.web.pages import press as pick
from tests.web.pages import seat
from tests.web.student.test_reserved_seats import changed
from tests.web.visitors import browser_of


@pytest.fixture
def crowd(app: Flask, cast: Cast, section: Section) -> Section:
    """Enroll Ada; Ben and Cleo wait, and Dan has left the waitlist."""
    seat(cast.ada, section)
    for name in ("ben", "cleo", "dan"):
        pick(browser_of(app, name), section, "pick", wait="1")
    pick(browser_of(app, "dan"), section, "leave")
    drain(section.term_id)
    return section


def results(admin: FlaskClient, section: Section, show: str = "in", **query: int) -> str:
    position = f"/admin/terms/{section.term_id}/sections/{section.id}/results"
    answer = admin.get(position, query_string={"show": show, **query})
    assert answer.status_code == 200
    return text_of(answer)


def test_each_group_shows_its_size(admin: FlaskClient, crowd: Section, cast: Cast) -> None:
    text = results(admin, crowd)
    assert "Enrolled 1 Waiting 2 Dropped the class 0 Left the waitlist 1" in text
    assert f"Ada {cast.ada.number}" in text
    assert cast.ben.number not in text


def test_overfull_section_is_described_the_same_everywhere(
    admin: FlaskClient, crowd: Section
) -> None:
    changed(crowd, capacity=0)
    admins, own = f"/admin/terms/{crowd.term_id}/sections", f"/teaching/sections/{crowd.id}"
    for page in (admins, f"{admins}/{crowd.id}", f"{admins}/{crowd.id}/results", own):
        assert "Over-enrolled by 1" in text_of(admin.get(page)), page


def test_dropped_student_has_no_actions_until_recorded(
    admin: FlaskClient, crowd: Section, cast: Cast
) -> None:
    page = press(admin, look(admin, cast.ada, drop=crowd), back="section")
    now = admin.get(page.location)
    assert f"Ada Being dropped {cast.ada.number}" in text_of(now)
    assert "Drop Ada" not in text_of(now)
    drain(crowd.term_id)
    assert "Ada" not in text_of(admin.get(page.location))


def test_imported_seats_are_listed_beside_named_ones(admin: FlaskClient, crowd: Section) -> None:
    assert "before" not in results(admin, crowd)
    changed(crowd, prior_enrolled=72)
    text = results(admin, crowd)
    assert "Enrolled 1, plus 72 from before Waiting 2" in text
    assert "72 seats were taken before registration started here" in text
    assert "72 seats" not in results(admin, crowd, "waiting")


def test_roster_can_be_downloaded(admin: FlaskClient, crowd: Section) -> None:
    position = f"/admin/terms/{crowd.term_id}/sections/{crowd.id}"
    assert f'href="{position}/roster.csv"' in admin.get(f"{position}/results").text


def test_waiting_students_are_in_order(admin: FlaskClient, crowd: Section, cast: Cast) -> None:
    text = results(admin, crowd, "waiting")
    assert f"1. Ben {cast.ben.number}" in text
    assert f"2. Cleo {cast.cleo.number}" in text


def test_dropped_student_is_in_the_former_group(
    admin: FlaskClient, crowd: Section, cast: Cast
) -> None:
    press(admin, look(admin, cast.ada, drop=crowd))
    drain(crowd.term_id)
    assert cast.ada.number in results(admin, crowd, "out")
    assert cast.dan.number in results(admin, crowd, "left")


def test_history_shows_actor_action_and_reason(
    admin: FlaskClient, crowd: Section, cast: Cast
) -> None:
    press(admin, look(admin, cast.ada, drop=crowd))
    drain(crowd.term_id)
    text = results(admin, crowd, "history")
    assert "Dropped Ada Max: Agreed with the dean." in text
    assert "Left the waitlist Dan Dan" in text
    assert "Seats: 1, waitlist: 5" in text


def test_history_is_paged(
    admin: FlaskClient, crowd: Section, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(participants, "PAGE", 2)
    seen = first = results(admin, crowd, "history")
    assert "Seats: 1," not in first
    position = f"/admin/terms/{crowd.term_id}/sections/{crowd.id}/results?show=history"
    while found := re.search(r'href="[^"]*before=(\d+)', admin.get(position).text):
        position = f"{position.partition('&')[0]}&before={found[1]}"
        seen += text_of(admin.get(position))
    assert "Seats: 1," in seen


def test_group_is_paged(
    admin: FlaskClient, crowd: Section, cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(participants, "PAGE", 1)
    text = results(admin, crowd, "waiting", page=2)
    assert f"2. Cleo {cast.cleo.number}" in text
    assert "Page 2 of 2" in text


def test_unknown_group_is_not_found(admin: FlaskClient, section: Section) -> None:
    position = f"/admin/terms/{section.term_id}/sections/{section.id}/results"
    assert admin.get(f"{position}?show=nobody").status_code == 404
