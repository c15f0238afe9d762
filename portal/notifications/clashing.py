"""Which other sections of a student clash with one that the registrar has changed or given."""

from collections.abc import Collection
from typing import Any

from sqlalchemy import Select, select, union
from sqlalchemy.orm import Session, aliased

from portal.catalog.formatting import days
from portal.catalog.section_changes import SectionChange
from portal.catalog.term_catalog import TermCatalog, current
from portal.catalog.time_conflicts import meet
from portal.catalog.views import MeetingView, SectionView
from portal.recorder.models import Enrollment, WaitlistEntry

Kept = dict[str, Any]  # a section's code and number, and its meetings that clash


def clashing(session: Session, term: int, sections: Collection[int]) -> dict[tuple[int, int], Any]:
    """Return what clashes, by student and section, of all who have a part in the sections."""
    rows = session.execute(_others(term, sections)).all() if sections else []
    if not rows:
        return {}
    offered = current(term)
    found: dict[tuple[int, int], list[Kept]] = {}
    for student, section, other in rows:
        if kept := _kept(offered, section, other):
            found.setdefault((student, section), []).append(kept)
    return found


def moved(session: Session, sections: Collection[int]) -> list[int]:
    """Return those of the sections whose meetings were ever changed."""
    changes = select(SectionChange.section_id).distinct()
    of_times = SectionChange.fields.has_key("meetings")
    return list(session.scalars(changes.where(SectionChange.section_id.in_(sections), of_times)))


def times(kept: Kept) -> list[str]:
    """Return days and times of what clashes, in the reader's language."""
    views = [MeetingView("", "", True, *each) for each in kept["meetings"]]  # noqa: FBT003
    return list(dict.fromkeys(f"{days(each.mask)} {each.times}" for each in views))


def _others(term: int, sections: Collection[int]) -> Select[Any]:
    """Each seat beside the part that a student has in one of the sections."""
    there = aliased(Enrollment)
    seats, places = Enrollment, WaitlistEntry
    part = union(
        select(seats.student_id, seats.section_id).where(
            seats.term_id == term, seats.section_id.in_(sections), seats.state == "enrolled"
        ),
        select(places.student_id, places.section_id).where(
            places.term_id == term,
            places.section_id.in_(sections),
            places.state.in_(("waiting", "passed")),
        ),
    ).subquery()
    return (
        select(part.c.student_id, part.c.section_id, there.section_id)
        .join(there, there.student_id == part.c.student_id)
        .where(there.term_id == term, there.state == "enrolled")
        .where(there.section_id != part.c.section_id)
        .order_by(part.c.student_id, there.section_id)
    )


def _kept(offered: TermCatalog, section: int, other: int) -> Kept | None:
    here, there = offered.section(section), offered.section(other)
    if not here or not there or "CANCELED" in {here.status, there.status}:
        return None
    meetings = _meetings(here, there)
    facts = {"code": there.course_code, "number": there.number}
    return {**facts, "meetings": meetings} if meetings else None


def _meetings(here: SectionView, there: SectionView) -> list[tuple[int, int | None, int | None]]:
    """Days and times of the meetings there that clash with one here."""
    return [
        (each.mask, each.start, each.end)
        for each in there.meetings
        if any(meet(each, mine) for mine in here.meetings)
    ]
