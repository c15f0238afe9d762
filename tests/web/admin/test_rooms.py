"""The rooms of a term: what meets in them, double bookings, and their number of seats."""

import re

import pytest
from flask.testing import FlaskClient

from portal.catalog.models import CrossList, Room, Term
from portal.core.audit_trail import AuditEntry
from portal.core.db import transaction
from tests import cast as builders
from tests.cast import Cast, Meets

WHY = "The room was measured."


@pytest.fixture
def hall(cast: Cast) -> int:
    """A hall with 30 seats."""
    assert cast
    room = builders.a_room("Hall 1")
    with transaction() as session:
        session.get_one(Room, room.id).seats = 30
    return room.id


def meets(term: Term, code: str, days: str, starts: str, ends: str, **fields: object) -> None:
    """A section that meets in Hall 1."""
    times = (Meets(days, starts, ends, room="Hall 1"),)
    options = {"capacity": 20, "meetings": times, **fields}
    builders.a_section(builders.a_course(code), term, **options)  # type: ignore[arg-type]


def text_of(page: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", page).split())


def test_a_room_names_what_meets_at_the_same_time(
    admin: FlaskClient, term: Term, hall: int
) -> None:
    meets(term, "AAA-1", "MR", "10:00", "11:50")
    meets(term, "BBB-1", "R", "11:00", "12:20")
    meets(term, "CCC-1", "T", "11:00", "12:20")
    one_class = [CrossList(course_code=code) for code in ("AAA-1", "BBB-1")]
    meets(term, "DDD-1", "MR", "10:00", "11:50", status="CANCELED")
    meets(term, "EEE-1", "MR", "10:00", "11:50", cross_lists=one_class)
    page = text_of(admin.get(f"/admin/terms/{term.id}/rooms/{hall}").text)
    assert page.count("At the same time as") == 2
    assert "At the same time as AAA 1-01" in page
    assert "At the same time as BBB 1-02" in page
    assert "DDD" not in page
    listed = text_of(admin.get(f"/admin/terms/{term.id}/rooms").text)
    assert "Hall 1 30 4 1 double booking" in listed


def test_a_section_with_more_seats_than_its_room_is_named(
    admin: FlaskClient, term: Term, hall: int
) -> None:
    meets(term, "AAA-1", "M", "10:00", "11:50", capacity=31)
    meets(term, "BBB-1", "T", "10:00", "11:50", capacity=30)
    page = text_of(admin.get(f"/admin/terms/{term.id}/rooms/{hall}").text)
    assert page.count("More seats than the room") == 1
    assert "1 section too large" in text_of(admin.get(f"/admin/terms/{term.id}/rooms").text)
    (section,) = re.findall(
        r"/admin/terms/\d+/sections/\d+", admin.get(f"/admin/search?q=AAA+1&term={term.id}").text
    )
    assert "Hall 1 has only 30 seats." in admin.get(section).text


def test_rooms_without_problems_are_left_out(admin: FlaskClient, term: Term, hall: int) -> None:
    assert hall
    meets(term, "AAA-1", "M", "10:00", "11:50")
    builders.a_room("Lab 2")
    address = f"/admin/terms/{term.id}/rooms"
    assert "Lab 2" in admin.get(address).text
    assert "Hall 1" not in admin.get(f"{address}?q=lab").text
    assert "No room has problems." in admin.get(f"{address}?problems=1").text
    assert "No room matches." in admin.get(f"{address}?q=%25").text


def test_the_seats_of_a_room_are_changed(admin: FlaskClient, term: Term, hall: int) -> None:
    address = f"/admin/terms/{term.id}/rooms/{hall}/seats"
    assert 'value="30"' in admin.get(address).text
    answer = admin.post(address, data={"seats": "25", "seen": "30", "reason": WHY})
    assert answer.status_code == 303
    again = admin.post(address, data={"seats": "25", "seen": "30", "reason": WHY})
    assert again.status_code == 303
    stale = admin.post(address, data={"seats": "90", "seen": "30", "reason": WHY})
    assert stale.status_code == 409
    assert "Someone else has changed this." in stale.text
    with transaction() as session:
        assert session.get_one(Room, hall).seats == 25
        (entry,) = session.query(AuditEntry).filter_by(action="catalog.room").all()
    assert (entry.before, entry.after, entry.reason) == ({"seats": 30}, {"seats": 25}, WHY)
    admin.post(address, data={"seats": "", "seen": "25", "reason": WHY})
    assert "Number of seats not known" in admin.get(f"/admin/terms/{term.id}/rooms/{hall}").text


@pytest.mark.parametrize("seats", ["-1", "many", "1.5", "9999999"])
def test_other_numbers_of_seats_are_refused(
    admin: FlaskClient, term: Term, hall: int, seats: str
) -> None:
    address = f"/admin/terms/{term.id}/rooms/{hall}/seats"
    answer = admin.post(address, data={"seats": seats, "seen": "30", "reason": WHY})
    assert answer.status_code == 422
    assert "Seats: enter a whole number from 0 to 100,000." in answer.text
    assert admin.post(address, data={"seats": "1", "seen": "30"}).status_code == 422


def test_a_deleted_room_has_no_page(admin: FlaskClient, term: Term, hall: int) -> None:
    address = f"/admin/catalog/room/{hall}/delete"
    assert admin.post(address, data={"reason": WHY}).status_code == 303
    assert admin.get(f"/admin/terms/{term.id}/rooms/{hall}").status_code == 404
    assert "Hall 1" not in admin.get(f"/admin/terms/{term.id}/rooms").text
