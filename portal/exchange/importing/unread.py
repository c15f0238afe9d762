"""What an import could not read of a new section, which is therefore a draft.

`Section.unread` has it by field. A field goes once an admin changes it or a later import reads it,
and all go when the section is published.
"""

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select, text
from sqlalchemy.orm import Session

from portal.catalog.models import Section
from portal.core.i18n import _k, stored_message, text_of, translated
from portal.exchange.importing.meetings import TIMES
from portal.exchange.importing.models import Import, SectionImport
from portal.exchange.importing.report import Note, Report
from portal.exchange.importing.review import field_name
from portal.exchange.importing.semester import Semester
from portal.exchange.record_sql import part

QUOTED = _k("“%(text)s”")
MEETINGS = ("days_unreadable", "times_unreadable", "dates_unreadable", "time_without_days")
# Findings that make a new section a draft, with the field that lacks a value then. Those about
# requisites do not tell which of both lacks it.
LACKING = {
    "restriction_unclear": "restrictions",
    "unreadable": "restrictions",
    "no_tree": "prerequisites",
    **dict.fromkeys(MEETINGS, "meetings"),
    "credits_unread": "credits",
    "taken_unread": "prior",
    "waitlist_unread": "waitlist",
    "status": "status",
}
# Findings that leave the meetings of a section as they are, so that an import has not read them.
MEETINGS_UNREAD = ["meeting_unreadable", "meeting_unclear", *MEETINGS]
# An import has read what it changes, and what it states without an effect. It never changes how
# many seats are taken. Unedited values of an export do not count.
SETTLE = text(f"""
    UPDATE sections SET unread = unread - ARRAY(
        SELECT replace(field, 'corequisites', 'prerequisites')
        FROM jsonb_object_keys(rows.fields) AS field
        WHERE before -> field IS DISTINCT FROM after -> field OR NOT (
            rows.exported OR field = 'prior' OR field = 'meetings' AND EXISTS (
                SELECT FROM import_notes AS notes
                WHERE notes.import_id = :id AND notes.key = crn AND notes.kind = ANY(:unread)
            )
        )
    )
    FROM import_rows AS rows LEFT JOIN import_changes USING (import_id, kind, key)
    JOIN terms ON terms.name = {part(1)} AND terms.deleted_at IS NULL
    WHERE import_id = :id AND rows.kind = 'section' AND line > 0 AND NOT removes
        AND term_id = terms.id AND crn = {part(2)}
        AND status = 'NEW' AND sections.deleted_at IS NULL AND unread <> '{{}}'
""")


@dataclass(frozen=True)
class UnreadValues:
    """An import that made a section a draft, and the values that it could not read of it.

    None are left if an admin has entered them, or a later import has read them.
    """

    file: str
    at: datetime
    values: dict[str, list[str]]  # by the name of a field

    @property
    def text(self) -> str:
        """Return such as `restrictions: “Special permission of the Dean”`."""
        return "; ".join(f"{name}: {', '.join(found)}" for name, found in self.values.items())


def values_of(semester: Semester, report: Report) -> dict[str, dict[str, list[str]]]:
    """Return what could not be read, by registration number and field, as stored messages."""
    found: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for note in report.notes:
        of_section = note.kind != "unreadable" or note.column in {"rule", "kind", "value"}
        if note.kind in LACKING and of_section:
            found[note.key][LACKING[note.kind]].append(_message(note))
    for crn, section in semester.sections.items():
        for _rule, _kind, value in section.restrictions:
            if value in semester.asked_about:
                found[crn]["restrictions"].append(stored_message(QUOTED, text=value))
    return found


def _message(note: Note) -> str:
    """Return the value that could not be read, or the detail if it is only a part or two cells."""
    in_detail = note.kind == "restriction_unclear" or text_of(note.detail) in TIMES
    if in_detail or not note.value:
        return note.detail
    return stored_message(QUOTED, text=note.value)


def settle(session: Session, import_id: int) -> None:
    """Forget what an import has read of drafts that earlier ones made."""
    session.execute(SETTLE, {"id": import_id, "unread": MEETINGS_UNREAD})


def unread_values(session: Session, sections: Collection[int]) -> dict[int, UnreadValues]:
    """Return the values that an import could not read and no one has entered since, by draft."""
    found = drafts_of_unread(session, sections)
    return {section: each for section, each in found.items() if each.values}


def drafts_of_unread(session: Session, sections: Collection[int]) -> dict[int, UnreadValues]:
    """Return the same, also of drafts without such values left."""
    made = (
        select(Section.id, Section.unread, Import.name, SectionImport.at)
        .join(SectionImport, SectionImport.section_id == Section.id)
        .join(Import, Import.id == SectionImport.import_id)
        .where(Section.id.in_(sections), Section.unread.is_not(None))
        .where(Section.status == "NEW", Section.deleted_at.is_(None))
        .where(SectionImport.change.in_(("added", "restored")))
        .order_by(Import.id)  # the last one counts
    )
    return {
        section: UnreadValues(file, at, _in_words(unread or {}))
        for section, unread, file, at in session.execute(made)
    }


def _in_words(unread: dict[str, list[str]]) -> dict[str, list[str]]:
    """Return the values by the name of a field, each once."""
    return {
        field_name(name): list(dict.fromkeys(translated(each).rstrip(".") for each in messages))
        for name, messages in unread.items()
    }
