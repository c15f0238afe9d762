"""Writes a section's details into its tables."""

from collections.abc import Callable
from typing import Any

from sqlalchemy import delete, insert, select, update
from sqlalchemy.dialects.postgresql import insert as upsert
from sqlalchemy.orm import Session

from portal.catalog.editing.details import Details
from portal.catalog.models import (
    CrossList,
    Meeting,
    Reserve,
    Restriction,
    Room,
    Section,
    section_teachers,
)
from portal.catalog.views import MeetingView, clock_time

SAME = ("number", "title", "kind", "capacity", "campus", "method", "note")
TREES = ("prerequisites", "corequisites")

Rows = list[dict[str, Any]]


def columns(section: Section, made: Details) -> None:
    """What stands in the section's own row."""
    for name in (*SAME, *TREES):
        setattr(section, name, getattr(made, name))
    section.credits_min, section.credits_max = made.credits
    section.waitlist_capacity = made.waitlist


def lists(session: Session, section_id: int, made: Details, before: Details | None = None) -> None:
    """What hangs on it, as far as it differs: meetings, teachers, restrictions, cross-lists."""
    for name, (table, rows) in LISTS.items():
        if before is None or getattr(made, name) != getattr(before, name):
            session.execute(delete(table).where(table.c.section_id == section_id))
            if found := rows(session, made):
                session.execute(insert(table), [{"section_id": section_id} | row for row in found])


def reserves(
    session: Session, section_id: int, made: Details, before: Details | None = None
) -> None:
    """Seats that are kept. What stays keeps its id: by it the ledger counts the seats given."""
    known = {each.id for each in before.reserves} if before else set()
    gone = known - {each.id for each in made.reserves}
    session.execute(delete(Reserve).where(Reserve.id.in_(gone)))
    for position, each in enumerate(made.reserves, 1):
        row = {"seats": each.seats, "cohort": dict(each.cohort), "until": each.until}
        row |= {"position": position}
        if each.id in known:
            known.remove(each.id)
            session.execute(update(Reserve).where(Reserve.id == each.id).values(row))
        else:
            session.execute(insert(Reserve).values(section_id=section_id, **row))


def _teachers(_session: Session, made: Details) -> Rows:
    return [{"teacher_id": each.id} for each in made.teachers]


def _restrictions(_session: Session, made: Details) -> Rows:
    return [dict(zip(("rule", "kind", "value"), each, strict=True)) for each in made.restrictions]


def _cross_lists(_session: Session, made: Details) -> Rows:
    return [{"course_code": code} for code in made.cross_lists]


def _meetings(session: Session, made: Details) -> Rows:
    rooms = _rooms(session, {each.room for each in made.meetings if each.room})
    return [_meeting(position, each, rooms) for position, each in enumerate(made.meetings, 1)]


LISTS: dict[str, tuple[Any, Callable[[Session, Details], Rows]]] = {
    "meetings": (Meeting.__table__, _meetings),
    "teachers": (section_teachers, _teachers),
    "restrictions": (Restriction.__table__, _restrictions),
    "cross_lists": (CrossList.__table__, _cross_lists),
}


def _meeting(position: int, view: MeetingView, rooms: dict[str, int]) -> dict[str, Any]:
    return {
        "position": position,
        "kind": view.code,
        "days": view.mask,
        "starts_at": clock_time(view.start),
        "ends_at": clock_time(view.end),
        "date_start": view.first,
        "date_end": view.last,
        "room_id": rooms.get(view.room),
        "clashes": view.clashes,
    }


def _rooms(session: Session, names: set[str]) -> dict[str, int]:
    """The ids of rooms by name; those that were not known are added."""
    if not names:
        return {}
    wanted = [{"name": name} for name in sorted(names)]
    session.execute(upsert(Room).values(wanted).on_conflict_do_nothing())
    found = select(Room.name, Room.id).where(Room.name.in_(names))
    return dict(session.execute(found).all())
