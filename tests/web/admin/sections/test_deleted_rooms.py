"""A form of a section that names a deleted room restores it, and the audit trail says so."""

from datetime import UTC, datetime

import pytest
from flask.testing import FlaskClient

from portal.catalog.models import Room, Section, Term
from portal.core.audit_trail import AuditEntry
from portal.core.db import transaction
from portal.people.models import Account
from tests import cast as builders
from tests.audit_trail import entries
from tests.cast import Cast
from tests.web.admin.sections.forms import change, send, text_of
from tests.web.admin.sections.test_new import make
from tests.web.pages import words

WARNING = "The room “Hall 7” is deleted. It will be restored."


@pytest.fixture
def hall() -> Room:
    """Return a room that is deleted."""
    room = builders.a_room("Hall 7")
    with transaction() as session:
        session.get_one(Room, room.id).deleted_at = datetime.now(UTC)
    return room


def is_deleted(room: Room) -> bool:
    with transaction() as session:
        return session.get_one(Room, room.id).deleted_at is not None


def restored(room: Room, by: Account) -> AuditEntry:
    """Return the only entry about the room, once it is checked."""
    [entry] = (each for each in entries() if each.subject == f"room:{room.id}")
    assert (entry.action, entry.account_id) == ("catalog.restore", by.id)
    assert (entry.before, entry.after) == ({"deleted": True}, {"deleted": False})
    return entry


def test_changed_section_restores_a_room(
    admin: FlaskClient, section: Section, hall: Room, cast: Cast
) -> None:
    assert WARNING in text_of(send(admin, section, meetings_0_room="Hall 7"))
    assert is_deleted(hall)
    change(admin, section, meetings_0_room="Hall 7", reason="It was painted.")
    assert not is_deleted(hall)
    assert restored(hall, cast.max).reason == "It was painted."
    assert "Room Hall 7" in words(admin.get("/admin/audit").text)
    change(admin, section, capacity="3")
    assert restored(hall, cast.max)


def test_new_section_restores_a_room(
    admin: FlaskClient, term: Term, hall: Room, cast: Cast
) -> None:
    course = builders.a_course("CSC-1200")
    make(admin, term, course, meetings_0_room="Hall 7")
    assert not is_deleted(hall)
    assert restored(hall, cast.max)


def test_room_that_is_in_use_is_not_restored_again(
    admin: FlaskClient, section: Section, cast: Cast
) -> None:
    assert cast
    builders.a_room("Hall 7")
    assert "Hall 7” is" not in text_of(send(admin, section, meetings_0_room="Hall 7"))
    change(admin, section, meetings_0_room="Hall 7")
    assert [each.action for each in entries()] == ["section.edit"]
