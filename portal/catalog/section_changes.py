"""Changes of sections that students are notified of, kept field by field."""

from collections.abc import Iterator, Mapping
from datetime import date
from decimal import Decimal
from typing import Any

from sqlalchemy import ForeignKey
from sqlalchemy.orm import Mapped, Session, mapped_column

from portal.catalog.record_details import Lines
from portal.catalog.section_fields import FIELDS, meeting_line
from portal.catalog.views import MeetingView
from portal.core.db import Base

Change = tuple[str, Lines, Lines]  # label, old lines, new lines

# Times, instructors and credits first: they matter most.
_notified = [each for each in FIELDS.values() if each.notified]
NOTIFIED = [each.name for each in sorted(_notified, key=lambda each: each.plain)]


class SectionChange(Base):
    """A change that students are notified about; `fields` by name, as [before, after]."""

    __tablename__ = "section_changes"

    section_id: Mapped[int] = mapped_column(ForeignKey("sections.id"), primary_key=True)
    version: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    fields: Mapped[dict[str, Any]]


def store(session: Session, section: int, version: int, before: Any, after: Any) -> None:
    """Store the changes of a version that students are notified about, if there are any.

    `before` and `after` are `SectionDetails`, or any values with the notified fields.
    """
    pairs = {
        name: [_as_json(name, getattr(before, name)), _as_json(name, getattr(after, name))]
        for name in NOTIFIED
    }
    fields = {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}
    if fields:
        session.add(SectionChange(section_id=section, version=version, fields=fields))


def changes(several: list[Mapping[str, Any]]) -> Iterator[Change]:
    """Yield what several versions in a row have changed in the end, in the reader's language."""
    for name in NOTIFIED:
        pairs = [fields[name] for fields in several if name in fields]
        if not pairs or pairs[0][0] == pairs[-1][1]:
            continue
        old, new = (_lines(name, values) for values in (pairs[0][0], pairs[-1][1]))
        gone = [line for line in old if line not in new]
        yield str(FIELDS[name].label), gone, [line for line in new if line not in old]


def _as_json(name: str, value: Any) -> Any:
    """Return a value as it is stored: its readers word it, each in their language."""
    if name == "meetings":
        return [_stored_meeting(each) for each in value]
    if name == "credits":
        return [str(each) for each in value]
    return value if FIELDS[name].plain else FIELDS[name].lines(value)


def _stored_meeting(view: MeetingView) -> dict[str, Any]:
    dates = (view.first, view.last, *(view.term or ()))
    return {
        "code": view.code,
        "room": view.room,
        "mask": view.mask,
        "start": view.start,
        "end": view.end,
        "dates": [day.isoformat() for day in dates],
    }


def _lines(name: str, value: Any) -> Lines:
    if name == "meetings":
        return [meeting_line(_view(**each)) for each in value]
    if name == "credits":
        return FIELDS[name].lines(tuple(map(Decimal, value)))
    return value if isinstance(value, list) else FIELDS[name].lines(value)


def _view(dates: list[str], **same: Any) -> MeetingView:
    first, last, *term = map(date.fromisoformat, dates)
    return MeetingView(
        **same, clashes=True, first=first, last=last, term=(term[0], term[1]) if term else None
    )
