"""Notifications that follow from the ledger's decisions."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from sqlalchemy import Select, column, select, text, union
from sqlalchemy.orm import Session, aliased

from portal.catalog.models import Section
from portal.catalog.section_changes import SectionChange
from portal.catalog.term_catalog import current
from portal.catalog.time_conflicts import meet
from portal.notifications.creation import COLUMNS, create
from portal.notifications.kinds import ADJUSTED, COREQUISITE_LOST, PROMOTED, SKIPPED
from portal.notifications.models import Notification
from portal.recorder.events import Event
from portal.recorder.models import Enrollment, WaitlistEntry
from portal.recorder.read_models import as_json

# The data that each kind's text needs.
DATA_OF = {
    PROMOTED.name: ("instead",),
    SKIPPED.name: ("reasons", "lost"),
    ADJUSTED.name: ("instead", "gone", "alone"),
    COREQUISITE_LOST.name: ("alone",),
}

SECTION = """jsonb_build_object('code', course.code, 'number', section.number,
       'title', COALESCE(NULLIF(section.title, ''), course.title))"""
SWAP = """jsonb_build_object('instead', CASE WHEN old.id > 0
       THEN jsonb_build_object('code', old_course.code, 'number', old.number) END)"""

# A waiting student may be skipped for every freed seat of a busy day; the same reason is not
# reported again.
SEATS = f"""
SELECT student.account_id, event.kind, event.section AS section_id, NULL::int AS window_id,
       {SECTION} || event.data || {SWAP} AS data, event.at AS made_at, event.seq, 0 AS lead
FROM json_to_recordset(:events)
     AS event(seq bigint, kind text, student int, section int, at timestamptz, data jsonb)
JOIN students student ON student.id = event.student
JOIN sections section ON section.id = event.section AND section.term_id = :term
JOIN courses course ON course.id = section.course_id
LEFT JOIN sections old ON old.id = (event.data ->> 'instead')::int
LEFT JOIN courses old_course ON old_course.id = old.course_id
WHERE NOT EXISTS (
    SELECT FROM notifications known
    WHERE event.kind = 'passed_over' AND known.kind = event.kind AND known.read_at IS NULL
      AND known.account_id = student.account_id AND known.section_id = event.section
      AND known.data -> 'reasons' = event.data -> 'reasons'
      AND NOT event.data ? 'lost')
ORDER BY event.seq
"""  # noqa: S608  constants of ours

# Students with a part in the section at that event, even if they have dropped it since.
PART = """JOIN LATERAL (
    SELECT student_id, 'seat' AS had FROM enrollments seat
    WHERE seat.term_id = :term AND seat.section_id = event.section
      AND seat.registration < event.seq AND (seat.state = 'enrolled' OR seat.seq > event.seq)
    UNION ALL
    SELECT student_id, 'place' AS had FROM waitlist_positions entry
    WHERE entry.term_id = :term AND entry.section_id = event.section
      AND entry.ticket < event.seq
      AND (entry.state IN ('waiting', 'passed') OR entry.seq > event.seq)
) part ON true
JOIN students student ON student.id = part.student_id"""

CANCELLATIONS = f"""
SELECT student.account_id, 'section_canceled' AS kind, event.section AS section_id,
       NULL::int AS window_id, {SECTION} || jsonb_build_object('had', part.had) AS data,
       event.at AS made_at, event.seq, 0 AS lead
FROM json_to_recordset(:events) AS event(seq bigint, section int, at timestamptz)
JOIN sections section ON section.id = event.section AND section.term_id = :term
JOIN courses course ON course.id = section.course_id
{PART}
WHERE 'CANCELED' IS DISTINCT FROM (
    SELECT before.payload -> 'seats' ->> 'status' FROM events before
    WHERE before.term_id = :term AND before.aggregate = 'section:' || event.section
      AND before.seq < event.seq AND before.payload -> 'seats' IS NOT NULL
    ORDER BY before.seq DESC LIMIT 1)
"""  # noqa: S608  constants of ours

# Changes since the ledger last received the section, possibly several versions.
CHANGES = f"""
SELECT student.account_id, 'section_changed' AS kind, event.section AS section_id,
       NULL::int AS window_id,
       {SECTION} || jsonb_build_object('had', part.had, 'changes', new_changes.changes)
           || jsonb_strip_nulls(jsonb_build_object('clashes', clash.found)) AS data,
       event.at AS made_at, event.seq, 0 AS lead
FROM json_to_recordset(:events) AS event(seq bigint, section int, at timestamptz, version int)
JOIN sections section ON section.id = event.section AND section.term_id = :term
JOIN courses course ON course.id = section.course_id
JOIN LATERAL (
    SELECT jsonb_agg(change.fields ORDER BY change.version) AS changes
    FROM section_changes change
    WHERE change.section_id = event.section AND change.version <= event.version
      AND change.version > (
        SELECT (before.payload ->> 'section_version')::int FROM events before
        WHERE before.term_id = :term AND before.aggregate = 'section:' || event.section
          AND before.name = 'section_set' AND before.seq < event.seq
        ORDER BY before.seq DESC LIMIT 1)
) new_changes ON new_changes.changes IS NOT NULL
{PART}
LEFT JOIN json_to_recordset(:clashes) AS clash(student int, section int, found jsonb)
    ON clash.student = student.id AND clash.section = event.section
"""  # noqa: S608  constants of ours


def notify_of_events(session: Session, term: int, events: Sequence[Event]) -> None:
    """Create the notifications of the events whose read models this transaction has written."""
    for imported in (False, True):
        rows = _seat_rows(session, (event for event in events if event.imported is imported))
        _add_clashes(session, term, rows)
        # An import gives a student a whole semester at once: inbox entries only, no mail for each.
        _create(session, term, SEATS, rows, by_mail=not imported)
    canceled, changed = [], []
    for event in events:
        if event.name != "section_set":
            continue
        if event.payload["status"] == "CANCELED":
            canceled.append(_row(event))
        else:
            changed.append(_row(event) | {"version": event.payload["section_version"]})
    _create(session, term, CANCELLATIONS, canceled)
    if changed:
        sections = _ever_moved(session, [row["section"] for row in changed])
        clashes = [
            {"student": student, "section": section, "found": found}
            for (student, section), found in find_conflicts(session, term, sections).items()
        ]
        _create(session, term, CHANGES, changed, clashes=as_json(clashes))


def _create(
    session: Session,
    term: int,
    query: str,
    rows: list[dict[str, Any]],
    *,
    by_mail: bool = True,
    **values: str,
) -> None:
    if not rows:
        return
    stored = Notification.__table__.c
    columns = (column(name, stored[name].type) for name in COLUMNS)
    found = text(query).bindparams(term=term, events=as_json(rows), **values).columns(*columns)
    create(session, term, found, by_mail=by_mail, of_events=True)


def _row(event: Event) -> dict[str, Any]:
    return {"seq": event.seq, "section": event.payload["section"], "at": event.at}


def _seat_rows(session: Session, events: Iterable[Event]) -> list[dict[str, Any]]:
    """Return a row for each notification; for students skipped several times, the last."""
    rows = {}
    for event in events:
        kind = _kind(event)
        if kind not in DATA_OF:
            continue
        payload = event.payload | {"gone": event.name == "dropped"}
        data = {name: payload[name] for name in DATA_OF[kind] if payload.get(name)}
        row = _row(event) | {"kind": kind, "student": payload["student"], "data": data}
        again = 0 if kind == SKIPPED.name else event.seq
        rows[kind, row["student"], row["section"], again] = row
    return _without_canceled(session, list(rows.values()))


def _kind(event: Event) -> str:
    """Return the kind of notification of an event, if any; for a move, the new seat counts."""
    moves = "swap" in event.payload
    if "alone" in event.payload and (moves or not event.is_adjustment):
        return COREQUISITE_LOST.name
    if not event.is_adjustment:
        return event.name
    # The decision on an application has a notification of its own.
    has_its_own = event.context.get("application") and "alone" not in event.payload
    return "" if moves or has_its_own else ADJUSTED.name


def _without_canceled(session: Session, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Leave out seats without their corequisite in canceled sections: those are lost anyway."""
    alone = {each for row in rows for each in row["data"].get("alone", ())}
    if not alone:
        return rows
    found = select(Section.id).where(Section.id.in_(alone), Section.status == "CANCELED")
    canceled = set(session.scalars(found))
    for row in rows:
        left = [each for each in row["data"].pop("alone", ()) if each not in canceled]
        if left:
            row["data"]["alone"] = left
    return [row for row in rows if row["kind"] != COREQUISITE_LOST.name or "alone" in row["data"]]


def _add_clashes(session: Session, term: int, rows: Sequence[dict[str, Any]]) -> None:
    """Add what conflicts with a seat that the registrar gave."""
    given = [row for row in rows if row["kind"] == ADJUSTED.name and not row["data"].get("gone")]
    clashes = find_conflicts(session, term, {row["section"] for row in given})
    for row in given:
        if found := clashes.get((row["student"], row["section"])):
            row["data"]["clashes"] = found


# Sections of a student that conflict with one that the registrar changed or gave.


def find_conflicts(
    session: Session, term: int, sections: Collection[int]
) -> dict[tuple[int, int], list[dict[str, Any]]]:
    """Return conflicts by student and section, for all with a part in the sections.

    A conflict is a section's code and number, and its meetings: days, start and end.
    """
    rows = session.execute(_others(term, sections)).all() if sections else []
    found: dict[tuple[int, int], list[dict[str, Any]]] = defaultdict(list)
    if not rows:
        return found
    offered = current(term)
    for student, section, other in rows:
        here, there = offered.section(section), offered.section(other)
        if not here or not there or "CANCELED" in {here.status, there.status}:
            continue
        meetings = [
            (each.mask, each.start, each.end)
            for each in there.meetings
            if any(meet(each, own) for own in here.meetings)
        ]
        if meetings:
            conflict = {"code": there.course_code, "number": there.number, "meetings": meetings}
            found[student, section].append(conflict)
    return found


def _ever_moved(session: Session, sections: Collection[int]) -> list[int]:
    """Return those of the sections whose meetings ever changed."""
    changes = select(SectionChange.section_id).distinct()
    of_times = SectionChange.fields.has_key("meetings")
    return list(session.scalars(changes.where(SectionChange.section_id.in_(sections), of_times)))


def _others(term: int, sections: Collection[int]) -> Select[Any]:
    """Return each seat beside the student's part in one of the sections."""
    there = aliased(Enrollment)
    seats, waitlist = Enrollment, WaitlistEntry
    part = union(
        select(seats.student_id, seats.section_id).where(
            seats.term_id == term, seats.section_id.in_(sections), seats.state == "enrolled"
        ),
        select(waitlist.student_id, waitlist.section_id).where(
            waitlist.term_id == term,
            waitlist.section_id.in_(sections),
            waitlist.state.in_(("waiting", "passed")),
        ),
    ).subquery()
    return (
        select(part.c.student_id, part.c.section_id, there.section_id)
        .join(there, there.student_id == part.c.student_id)
        .where(there.term_id == term, there.state == "enrolled")
        .where(there.section_id != part.c.section_id)
        .order_by(part.c.student_id, there.section_id)
    )
