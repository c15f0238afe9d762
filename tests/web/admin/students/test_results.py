"""GET /admin/terms/<t>/sections/<s>/results: who is in a section, who waits, what happened."""

import re

import pytest
from flask import Flask
from flask.testing import FlaskClient

from portal.catalog.models import Section
from portal.recorder import participants
from portal.recorder.recorder import drain
from tests.cast import Cast
from tests.web.admin.students.forms import look, press, said
from tests.web.pages import press as pick
from tests.web.pages import seat
from tests.web.student.test_reserved_seats import changed
from tests.web.visitors import browser_of


@pytest.fixture
def crowd(app: Flask, cast: Cast, section: Section) -> Section:
    """Ada is in, Ben and Cleo wait, Dan has left the line."""
    seat(cast.ada, section)
    for name in ("ben", "cleo", "dan"):
        pick(browser_of(app, name), section, "pick", wait="1")
    pick(browser_of(app, "dan"), section, "leave")
    drain(section.term_id)
    return section


def results(boss: FlaskClient, section: Section, show: str = "in", **query: int) -> str:
    place = f"/admin/terms/{section.term_id}/sections/{section.id}/results"
    answer = boss.get(place, query_string={"show": show, **query})
    assert answer.status_code == 200
    return said(answer)


def test_each_group_with_its_number(boss: FlaskClient, crowd: Section, cast: Cast) -> None:
    text = results(boss, crowd)
    assert "In the section 1 Waiting 2 Canceled 0 Left the waitlist 1" in text
    assert f"Ada {cast.ada.number}" in text
    assert cast.ben.number not in text


def test_more_students_than_seats_are_told_alike_everywhere(
    boss: FlaskClient, crowd: Section
) -> None:
    changed(crowd, capacity=0)
    admins, own = f"/admin/terms/{crowd.term_id}/sections", f"/teaching/sections/{crowd.id}"
    for page in (admins, f"{admins}/{crowd.id}", f"{admins}/{crowd.id}/results", own):
        assert "Over-enrolled by 1" in said(boss.get(page)), page


def test_who_is_taken_out_is_offered_nothing_while_that_is_recorded(
    boss: FlaskClient, crowd: Section, cast: Cast
) -> None:
    page = press(boss, look(boss, cast.ada, drop=crowd), back="section")
    now = boss.get(page.location)
    assert f"Ada Being taken out {cast.ada.number}" in said(now)
    assert "Drop Ada" not in said(now)
    drain(crowd.term_id)
    assert "Ada" not in said(boss.get(page.location))


def test_seats_from_before_are_told_beside_those_with_names(
    boss: FlaskClient, crowd: Section
) -> None:
    assert "before" not in results(boss, crowd)
    changed(crowd, prior_enrolled=72)
    text = results(boss, crowd)
    assert "In the section 1, and 72 from before Waiting 2" in text
    assert "72 seats were taken before selection here began" in text
    assert "72 seats" not in results(boss, crowd, "waiting")


def test_its_roster_can_be_taken_along(boss: FlaskClient, crowd: Section) -> None:
    place = f"/admin/terms/{crowd.term_id}/sections/{crowd.id}"
    assert f'href="{place}/roster.csv"' in boss.get(f"{place}/results").text


def test_those_who_wait_stand_in_line(boss: FlaskClient, crowd: Section, cast: Cast) -> None:
    text = results(boss, crowd, "waiting")
    assert f"1. Ben {cast.ben.number}" in text
    assert f"2. Cleo {cast.cleo.number}" in text


def test_who_was_taken_out_is_among_those_who_are_gone(
    boss: FlaskClient, crowd: Section, cast: Cast
) -> None:
    press(boss, look(boss, cast.ada, drop=crowd))
    drain(crowd.term_id)
    assert cast.ada.number in results(boss, crowd, "out")
    assert cast.dan.number in results(boss, crowd, "left")


def test_the_history_says_who_did_what_and_why(
    boss: FlaskClient, crowd: Section, cast: Cast
) -> None:
    press(boss, look(boss, cast.ada, drop=crowd))
    drain(crowd.term_id)
    text = results(boss, crowd, "history")
    assert "Dropped Ada Max: Agreed with the dean." in text
    assert "Left the waitlist Dan Dan" in text
    assert "Seats: 1, waitlist: 5" in text


def test_the_history_comes_page_by_page(
    boss: FlaskClient, crowd: Section, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(participants, "PAGE", 2)
    seen = first = results(boss, crowd, "history")
    assert "Seats: 1," not in first
    place = f"/admin/terms/{crowd.term_id}/sections/{crowd.id}/results?show=history"
    while found := re.search(r'href="[^"]*before=(\d+)', boss.get(place).text):
        place = f"{place.partition('&')[0]}&before={found[1]}"
        seen += said(boss.get(place))
    assert "Seats: 1," in seen


def test_a_group_comes_page_by_page(
    boss: FlaskClient, crowd: Section, cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(participants, "PAGE", 1)
    text = results(boss, crowd, "waiting", page=2)
    assert f"2. Cleo {cast.cleo.number}" in text
    assert "Page 2 of 2" in text


def test_a_group_that_is_none_is_not_found(boss: FlaskClient, section: Section) -> None:
    place = f"/admin/terms/{section.term_id}/sections/{section.id}/results"
    assert boss.get(f"{place}?show=nobody").status_code == 404
