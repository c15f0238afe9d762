"""GET /terms/<t>/schedule: my week, my list, exams and days off."""

import re
from datetime import date
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import update

from portal.backend import backend as parts
from portal.calendar.models import DayOff
from portal.catalog import term_catalog
from portal.catalog.models import Section
from portal.core import redis_clients
from portal.core.db import transaction
from portal.core.ledger_servers import OneServer
from portal.ledger.client import Ledger
from portal.recorder import recorder
from tests import cast as builders
from tests.cast import Cast, Meets
from tests.web.pages import HTMX, press, words
from tests.web.visitors import browser_of

EXAM_DAY = ("2030-12-18", "2030-12-18")


def page(client: FlaskClient, term: Any) -> str:
    return str(client.get(f"/terms/{term.id}/schedule").text)


def pick(client: FlaskClient, *sections: Any) -> None:
    """Give seats in sections before the first page is loaded."""
    for section in sections:
        press(client, section, "pick")


def part(html: str, heading: str) -> str:
    """Return the text of the section, or the day, under a heading."""
    found = re.search(rf'<(\w+) [^>]*aria-labelledby="{heading}".*?</\1>', html, re.DOTALL)
    return words(found[0]) if found else ""


def blocks(html: str) -> list[str]:
    """Return the texts of the week's blocks."""
    return [words(each) for each in re.findall(r'<li class="week-block.*?</li>', html, re.DOTALL)]


def test_empty_page_explains_what_to_expect(ada: FlaskClient, term: Any) -> None:
    assert "No classes yet" in words(page(ada, term))


def test_class_is_shown_on_each_day_with_time_name_and_room(ada: FlaskClient, term: Any) -> None:
    meets = Meets("MW", room="Alder Hall 1")
    course = builders.a_course(title="Data Structures")
    press(ada, builders.a_section(course, term, meetings=(meets,)), "pick")
    html = page(ada, term)
    assert blocks(html) == [" 10:00–11:50 am CSC 1100-01 Data Structures Alder Hall 1 "] * 2
    assert part(html, "week-day-0") == part(html, "week-day-2").replace("Wednesday", "Monday")
    assert "No classes" in part(html, "week-day-1")


def test_list_has_instructors_and_total_credits(ada: FlaskClient, term: Any, cast: Cast) -> None:
    meets = (Meets("MR", room="Alder Hall 1"),)
    course = builders.a_course(title="Data Structures")
    pick(
        ada,
        builders.a_section(course, term, meetings=meets, instructor=cast.iris),
        builders.a_section(builders.a_course("MAT-1", credits=3), term),
    )
    text = part(page(ada, term), "selected-title")
    assert "7 credits total" in text
    assert "Data Structures Mon Thu 10:00–11:50 am Alder Hall 1 Iris 4" in text


def test_classes_without_a_time_are_listed_separately(ada: FlaskClient, term: Any) -> None:
    thesis = builders.a_section(builders.a_course("CSC-4990", title="Thesis"), term)
    pick(ada, thesis, builders.a_section(builders.a_course("MAT-1"), term, meetings=(Meets(),)))
    html = page(ada, term)
    assert "To be arranged: CSC 4990-01 Thesis" in words(html)
    assert not any("CSC 4990" in block for block in blocks(html))


def test_waitlisted_section_is_only_in_the_list(app: Flask, ada: FlaskClient, term: Any) -> None:
    full = builders.a_section(builders.a_course(), term, capacity=0, meetings=(Meets(),))
    press(browser_of(app, "ben"), full, "pick", wait="1")
    press(ada, full, "pick", wait="1")
    html = page(ada, term)
    assert blocks(html) == []
    assert "selected-title" not in html
    text = part(html, "waiting-title")
    assert "You don’t have a seat in these yet" in text
    assert "Waitlist position 2 of 2" in text


def test_half_term_classes_are_marked_and_side_by_side(ada: FlaskClient, term: Any) -> None:
    halves = (("2030-08-26", "2030-10-18"), ("2030-10-21", "2030-12-20"))
    sections = [
        builders.a_section(builders.a_course(code), term, meetings=(Meets("M", dates=dates),))
        for code, dates in zip(("CSC-1", "CSC-2"), halves, strict=True)
    ]
    pick(ada, *sections)
    html = page(ada, term)
    assert 'data-lanes="2"' in html
    first, second = blocks(html)
    assert "Aug 26 – Oct 18" in first
    assert "Oct 21 – Dec 20" in second
    assert re.findall(r'data-lane="(\d)"', html) == ["1", "2"]


def test_exams_are_listed_by_date(ada: FlaskClient, term: Any) -> None:
    final = Meets("W", "18:00", "19:50", clashes=False, dates=EXAM_DAY, kind="TES")
    tests = Meets("W", "08:00", "21:50", clashes=False, kind="TES")
    section = builders.a_section(builders.a_course(), term, meetings=(Meets("M"), tests, final))
    press(ada, section, "pick")
    html = page(ada, term)
    assert len(blocks(html)) == 1
    text = part(html, "exams-title")
    assert "Wed, Dec 18, 6:00–7:50 pm CSC 1100-01 Test block" in text
    assert "Wed 8:00 am–9:50 pm CSC 1100-01 Test block Reserved" in text


def test_days_off_are_listed(ada: FlaskClient, term: Any) -> None:
    with transaction() as session:
        for day in (27, 28, 29):
            session.add(DayOff(term_id=term.id, day=date(2030, 11, day), name="Thanksgiving"))
    press(ada, builders.a_section(builders.a_course(), term), "pick")
    text = part(page(ada, term), "breaks-title")
    assert "No classes on Wed, Nov 27 – Fri, Nov 29 Thanksgiving" in text


def test_canceled_section_is_marked_and_not_in_the_week(ada: FlaskClient, term: Any) -> None:
    section = builders.a_section(builders.a_course(), term, meetings=(Meets(),))
    press(ada, section, "pick")
    with transaction() as session:
        gone = update(Section).where(Section.id == section.id).values(status="CANCELED")
        session.execute(gone)
    term_catalog.forget()
    html = page(ada, term)
    assert blocks(html) == []
    assert "has been canceled" in part(html, "selected-title")


def test_times_are_in_the_institutions_zone(ada: FlaskClient, term: Any) -> None:
    html = page(ada, term)
    assert "Times are in Eastern Time." in words(html)
    assert "Your device is set to" not in html


@pytest.mark.parametrize(
    ("zone", "note"),
    [
        (
            "Europe/Berlin",
            "Central European Time, where clocks are 6 hours ahead of these",
        ),
        ("America/Los_Angeles", "Pacific Time, where clocks are 3 hours behind these times."),
        ("Asia/Kolkata", "India Time, where clocks are 9.5 hours ahead"),
        ("UTC", "is set to UTC, where clocks are 4 hours ahead"),
        ("Etc/UTC", "is set to UTC, where clocks are 4 hours ahead"),
        ("America/Toronto", ""),
        ("Nowhere/At_All", ""),
    ],
)
def test_the_schedule_tells_a_device_in_another_zone_how_far_its_clock_is_off(
    ada: FlaskClient, term: Any, zone: str, note: str
) -> None:
    ada.set_cookie("zone", zone)
    html = words(page(ada, term))
    assert ("Your device is set to" in html) is bool(note)
    assert note in html


def test_schedule_stays_after_the_window(app: Flask, cast: Cast) -> None:
    term = builders.a_term()
    window = builders.an_open_window(term)
    ada = browser_of(app, "ada")
    course = builders.a_course(title="Data Structures")
    press(ada, builders.a_section(course, term, meetings=(Meets(),)), "pick")
    parts().ledger.close_window(term.id, window.id, "tests")
    assert "Data Structures" in page(ada, term)
    assert cast.ada


def test_schedule_of_others_is_never_shown(app: Flask, ada: FlaskClient, term: Any) -> None:
    course = builders.a_course(title="Data Structures")
    press(ada, builders.a_section(course, term), "pick")
    assert "Data Structures" not in page(browser_of(app, "ben"), term)


def test_recorded_schedule_is_shown_while_the_ledger_is_down(
    ada: FlaskClient, term: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    course = builders.a_course(title="Data Structures")
    section = builders.a_section(course, term, meetings=(Meets(),))
    full = builders.a_section(builders.a_course("MAT-1", title="Calculus"), term, capacity=0)
    pick(ada, section)
    press(ada, full, "pick", wait="1")
    recorder.drain(term.id)
    nobody = Ledger(OneServer(redis_clients.commands("redis://127.0.0.1:1")))
    monkeypatch.setattr(parts(), "ledger", nobody)
    html = page(ada, term)
    assert "Your latest changes may not show here yet" in words(html)
    assert "Data Structures" in part(html, "selected-title")
    assert "Calculus Waitlist position 1 of 1 To be arranged" in part(html, "waiting-title")


def test_current_page_gets_no_update(ada: FlaskClient, term: Any) -> None:
    section = builders.a_section(builders.a_course(title="Data Structures"), term)
    requested = {**HTMX, "HX-Target": "schedule"}
    [mark] = re.findall(r"schedule\?mark=(\w+)", page(ada, term))
    address = f"/terms/{term.id}/schedule?mark={mark}"
    assert ada.get(address, headers=requested).status_code == 204
    pick(ada, section)
    answer = ada.get(address, headers=requested)
    assert answer.status_code == 200
    assert "Data Structures" in answer.text
    assert "<html" not in answer.text


def test_instructors_have_no_schedule(app: Flask, term: Any) -> None:
    assert browser_of(app, "iris").get(f"/terms/{term.id}/schedule").status_code == 403


def test_schedule_of_an_unknown_term_is_not_found(ada: FlaskClient) -> None:
    assert ada.get("/terms/999999/schedule").status_code == 404
