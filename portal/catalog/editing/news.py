"""What a change of a section is to whoever has a part in it: how it was and is, field by field."""

from collections.abc import Callable, Iterator
from datetime import date
from typing import Any, Protocol

from sqlalchemy import ForeignKey, Integer
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, Session, mapped_column

from portal.catalog.editing import words
from portal.catalog.editing.details import Taught
from portal.catalog.views import MeetingView
from portal.core.db import Base

Lines = list[str]
Change = tuple[str, Lines, Lines]  # a label, what is no more, and what is instead


class Newsworthy(Protocol):
    """A section as far as its changes are news."""

    @property
    def meetings(self) -> tuple[MeetingView, ...]: ...
    @property
    def teachers(self) -> tuple[Taught, ...]: ...
    @property
    def campus(self) -> str: ...
    @property
    def method(self) -> str: ...
    @property
    def note(self) -> str: ...


class SectionChange(Base):
    """A version of a section that is news; `fields` by name, as [before, after]."""

    __tablename__ = "section_changes"

    section_id: Mapped[int] = mapped_column(ForeignKey("sections.id"), primary_key=True)
    version: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    fields: Mapped[dict[str, Any]] = mapped_column(JSONB)


def keep(
    session: Session, section: int, version: int, before: Newsworthy, after: Newsworthy
) -> None:
    """Keep what is news about a version, if anything is."""
    pairs = {name: [kept(before), kept(after)] for name, kept in NEWS.items()}
    fields = {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}
    if fields:
        session.add(SectionChange(section_id=section, version=version, fields=fields))


def changes(several: list[dict[str, Any]]) -> Iterator[Change]:
    """What several versions in a row have changed in the end, in the reader's language."""
    for name in NEWS:
        pairs = [fields[name] for fields in several if name in fields]
        if not pairs or pairs[0][0] == pairs[-1][1]:
            continue
        old, new = (_lines(name, kept) for kept in (pairs[0][0], pairs[-1][1]))
        gone = [line for line in old if line not in new]
        yield str(words.FIELDS[name].label), gone, [line for line in new if line not in old]


def _text(name: str) -> Callable[[Newsworthy], Lines]:
    return lambda it: [text] if (text := getattr(it, name)) else []


def _meeting(view: MeetingView) -> dict[str, Any]:
    dates = (view.first, view.last, *(view.term or ()))
    return {
        "code": view.code,
        "room": view.room,
        "mask": view.mask,
        "start": view.start,
        "end": view.end,
        "dates": [day.isoformat() for day in dates],
    }


def _lines(name: str, kept: list[Any]) -> Lines:
    return [words.meeting(_view(**each)) for each in kept] if name == "meetings" else kept


def _view(dates: list[str], **same: Any) -> MeetingView:
    first, last, *term = map(date.fromisoformat, dates)
    return MeetingView(
        **same, clashes=True, first=first, last=last, term=(term[0], term[1]) if term else None
    )


NEWS: dict[str, Callable[[Newsworthy], list[Any]]] = {
    "meetings": lambda it: [_meeting(each) for each in it.meetings],
    "teachers": lambda it: [each.name for each in it.teachers],
    "campus": _text("campus"),
    "method": _text("method"),
    "note": _text("note"),
}
