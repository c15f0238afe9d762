"""GET /calendar/<secret>.ics, and the page that gives and takes back its address."""

import re
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from icalendar import Calendar
from sqlalchemy import func, select, update

from portal.calendar.models import CalendarFeed
from portal.catalog.models import Meeting, Section, Term
from portal.core.db import transaction
from portal.people.models import Account
from portal.recorder import recorder
from tests import cast as builders
from tests.cast import Cast, Meets
from tests.web.pages import hidden, press, words
from tests.web.visitors import browser_of

ADDRESS = re.compile(r'value="http://localhost(/calendar/\d+-[\w-]{43}\.ics)"')


@pytest.fixture
def anyone(app: Flask) -> FlaskClient:
    """A program that has never logged in."""
    return app.test_client()


def shown(client: FlaskClient, term: Any) -> str:
    """The address on the page, blank where there is none."""
    found = ADDRESS.search(client.get(f"/terms/{term.id}/schedule/feed").text)
    return found[1] if found else ""


def make(client: FlaskClient, term: Any, **fields: str) -> str:
    """Press the button of the page, and read the address that it shows then."""
    page = f"/terms/{term.id}/schedule/feed"
    client.post(page, data={**hidden(client.get(page).text), **fields})
    return shown(client, term)


def held(client: FlaskClient, term: Any, *meetings: Meets) -> Any:
    """A section that the client's student holds, as is recorded."""
    course = builders.a_course(title="Data Structures")
    section = builders.a_section(course, term, meetings=meetings or (Meets("MR"),))
    press(client, section, "pick")
    recorder.drain(term.id)
    return section


def events(client: FlaskClient, address: str) -> list[Any]:
    answer = client.get(address)
    assert answer.status_code == 200
    return list(Calendar.from_ical(answer.data).walk("VEVENT"))


def test_created_address_is_readable_without_a_login(
    ada: FlaskClient, anyone: FlaskClient, term: Any
) -> None:
    held(ada, term)
    assert shown(ada, term) == ""
    address = make(ada, term)
    answer = anyone.get(address)
    assert answer.mimetype == "text/calendar"
    assert answer.headers["Cache-Control"] == "private, no-cache"
    [event] = events(anyone, address)
    assert event["SUMMARY"] == "CSC 1100-01 Data Structures"


def test_address_is_shown_again_and_not_stored(ada: FlaskClient, term: Any) -> None:
    address = make(ada, term)
    assert shown(ada, term) == address
    with transaction() as session:
        [row] = session.scalars(select(CalendarFeed)).all()
    seal = address.rpartition("/")[2].partition("-")[2].removesuffix(".ics")
    assert seal not in repr(vars(row))


def test_new_address_ends_the_old_one(ada: FlaskClient, anyone: FlaskClient, term: Any) -> None:
    old = make(ada, term)
    new = make(ada, term)
    assert new != old
    assert anyone.get(old).status_code == 404
    assert anyone.get(new).status_code == 200


def test_address_that_is_turned_off_is_not_found(
    ada: FlaskClient, anyone: FlaskClient, term: Any
) -> None:
    old = make(ada, term)
    assert make(ada, term, act="end") == ""
    assert anyone.get(old).status_code == 404


def test_outdated_page_changes_nothing(ada: FlaskClient, term: Any) -> None:
    address = f"/terms/{term.id}/schedule/feed"
    make(ada, term)
    stale = hidden(ada.get(address).text)
    newer = make(ada, term)
    ada.post(address, data=stale)
    ada.post(address, data={**stale, "act": "end"})
    assert shown(ada, term) == newer


def test_student_cannot_end_the_address_of_another(app: Flask, ada: FlaskClient, term: Any) -> None:
    mine = make(ada, term)
    theirs = hidden(ada.get(f"/terms/{term.id}/schedule/feed").text)
    browser_of(app, "ben").post(f"/terms/{term.id}/schedule/feed", data={**theirs, "act": "end"})
    assert shown(ada, term) == mine


def test_wrong_and_ended_secrets_get_the_same_response(
    ada: FlaskClient, anyone: FlaskClient, term: Any
) -> None:
    ended = make(ada, term)
    live = make(ada, term)
    number, _, seal = live.removesuffix(".ics").rpartition("/")[2].partition("-")
    wrong = [
        ended,
        f"/calendar/{number}-{seal[::-1]}.ics",
        f"/calendar/{int(number) + 1}-{seal}.ics",
        f"/calendar/{number}-.ics",
        "/calendar/nothing.ics",
        f"/calendar/{'9' * 40}-{seal}.ics",
    ]
    answers = [anyone.get(address) for address in wrong]
    assert {answer.status_code for answer in answers} == {404}
    assert len({re.sub(r"Code.*", "", words(answer.text)) for answer in answers}) == 1


def test_address_ends_with_the_account(
    ada: FlaskClient, anyone: FlaskClient, term: Any, cast: Cast
) -> None:
    address = make(ada, term)
    with transaction() as session:
        theirs = update(Account).where(Account.id == cast.ada.account_id)
        session.execute(theirs.values(deleted_at=func.now()))
    assert anyone.get(address).status_code == 404


def test_unchanged_calendar_gets_304(ada: FlaskClient, anyone: FlaskClient, term: Any) -> None:
    section = held(ada, term)
    address = make(ada, term)
    first = anyone.get(address)
    again = anyone.get(address, headers={"If-None-Match": first.headers["ETag"]})
    assert again.status_code == 304
    since = {"If-Modified-Since": first.headers["Last-Modified"]}
    assert anyone.get(address, headers=since).status_code == 304
    assert anyone.get(address).data == first.data
    with transaction() as session:
        moved = update(Meeting).where(Meeting.section_id == section.id).values(days=2)
        session.execute(moved)
        changed = update(Section).where(Section.id == section.id).values(version=7)
        session.execute(changed)
    later = anyone.get(address, headers={"If-None-Match": first.headers["ETag"]})
    assert later.status_code == 200
    [event] = Calendar.from_ical(later.data).walk("VEVENT")
    assert event["SEQUENCE"] == 7


def test_dropped_and_waitlisted_sections_are_not_in_the_calendar(
    ada: FlaskClient, anyone: FlaskClient, term: Any
) -> None:
    full = builders.a_section(builders.a_course("MAT-1"), term, capacity=0, meetings=(Meets("F"),))
    section = held(ada, term)
    press(ada, full, "pick", wait="1")
    recorder.drain(term.id)
    address = make(ada, term)
    assert len(events(anyone, address)) == 1
    press(ada, section, "drop")
    recorder.drain(term.id)
    assert events(anyone, address) == []


def test_canceled_section_is_marked_as_canceled(
    ada: FlaskClient, anyone: FlaskClient, term: Any
) -> None:
    section = held(ada, term)
    address = make(ada, term)
    with transaction() as session:
        gone = update(Section).where(Section.id == section.id).values(status="CANCELED")
        session.execute(gone)
    [event] = events(anyone, address)
    assert event["STATUS"] == "CANCELLED"


def test_calendar_has_all_offered_terms(ada: FlaskClient, anyone: FlaskClient, term: Any) -> None:
    spring = builders.a_term("Spring 2031")
    builders.an_open_window(spring)
    held(ada, term)
    other = builders.a_section(builders.a_course("MAT-1"), spring, meetings=(Meets("F"),))
    press(ada, other, "pick")
    recorder.drain(spring.id)
    address = make(ada, term)
    assert len(events(anyone, address)) == 2
    with transaction() as session:
        session.execute(update(Term).where(Term.id == spring.id).values(deleted_at=func.now()))
    assert len(events(anyone, address)) == 1


def test_calendar_is_in_the_students_language(
    ada: FlaskClient, anyone: FlaskClient, term: Any, cast: Cast
) -> None:
    held(ada, term, Meets("M"), Meets("W", "18:00", "19:50", clashes=False))
    address = make(ada, term)
    assert "Wed 6:00–7:50 pm" in events(anyone, address)[0]["DESCRIPTION"]
    with transaction() as session:
        theirs = update(Account).where(Account.id == cast.ada.account_id)
        session.execute(theirs.values(language="es"))
    assert "mié 18:00–19:50" in events(anyone, address)[0]["DESCRIPTION"]


def test_frequent_requests_are_limited(ada: FlaskClient, anyone: FlaskClient, term: Any) -> None:
    address = make(ada, term)
    answers = [anyone.get(address) for _ in range(21)]  # of two minutes, if one ends meanwhile
    assert {answer.status_code for answer in answers[:10]} == {200}
    refused = [answer for answer in answers if answer.status_code == 429]
    assert int(refused[0].headers["Retry-After"]) > 0
