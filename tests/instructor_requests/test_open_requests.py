"""GET /admin/requests."""

import re
from datetime import date
from html import unescape

from flask.testing import FlaskClient
from sqlalchemy import insert, select

from portal.catalog.models import Room, Section
from portal.core.db import transaction
from portal.instructor_requests import listing, service
from portal.instructor_requests.models import InstructorRequest
from tests import cast as builders
from tests.cast import Cast
from tests.instructor_requests.conftest import the

ROWS = re.compile(r'id="request-(\d+)"')
TAG = re.compile(r"<[^>]*>")


def rows(admin: FlaskClient, query: str = "") -> list[int]:
    return [int(each) for each in ROWS.findall(admin.get(f"/admin/requests{query}").text)]


def test_the_oldest_comes_first(
    admin: FlaskClient, asked: int, section: Section, cast: Cast
) -> None:
    iris = cast.iris.account_id or 0
    later = service.request_override(section.id, cast.dan.id, ["restriction"], "x", iris)
    assert rows(admin) == [asked, later]
    assert rows(admin, f"?from={asked}") == [later]


def test_seats_waitlist_and_room_stand_beside_it(
    admin: FlaskClient, asked: int, section: Section
) -> None:
    with transaction() as session:
        session.scalars(select(Room)).one().seats = 40
    page = unescape(admin.get("/admin/requests").text)
    assert f'id="seats-{section.id}"' in page
    assert "2 of 5 waiting" in TAG.sub("", page)
    assert "Room for 40" in page
    assert asked


def test_the_counts_that_move_are_those_of_the_lines(
    admin: FlaskClient, asked: int, section: Section
) -> None:
    later = builders.a_term("Spring 2031", starts_on=date(2031, 1, 10))
    assert f'id="requests" class="stack" data-live-term="{section.term_id}"' in (
        admin.get("/admin/requests").text
    )
    nothing = admin.get("/admin/requests?state=done").text
    assert f'data-live-term="{later.id}"' in nothing
    assert asked


def test_what_is_decided_is_listed_apart(admin: FlaskClient, asked: int, cast: Cast) -> None:
    service.decline(asked, cast.max.id, "No room.")
    assert rows(admin) == []
    assert "No open requests." in admin.get("/admin/requests").text
    assert rows(admin, "?state=done") == [asked]
    assert "No room." in admin.get("/admin/requests?state=done").text
    assert the(asked).decided_at


def test_many_come_in_pages(admin: FlaskClient, section: Section, cast: Cast) -> None:
    with transaction() as session:
        made = [
            {
                "kind": "override",
                "section_id": section.id,
                "account_id": cast.iris.account_id,
                "student_id": student.id,
                "waives": ["restriction"],
                "reason": "x",
                "state": state,
            }
            for student in (cast.ada, cast.ben)
            for state in ["declined"] * listing.PAGE
        ]
        session.execute(insert(InstructorRequest), made)
    first = rows(admin, "?state=done")
    assert len(first) == listing.PAGE
    second = rows(admin, f"?state=done&from={first[-1]}")
    assert len(second) == listing.PAGE
    assert min(first) > max(second)
    assert rows(admin, f"?state=done&from={second[-1]}") == []
