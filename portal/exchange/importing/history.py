"""What imports changed in each section, and what they could not read of it, for its pages."""

import json
from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import insert, select, text
from sqlalchemy.orm import Session

from portal.core.i18n import text_of, translated
from portal.exchange.importing.meetings import TIMES
from portal.exchange.importing.models import Import, SectionImport
from portal.exchange.importing.report import changed_fields
from portal.exchange.importing.review import field_name
from portal.exchange.importing.values import change_texts
from portal.people.models import Account

MOST = 20  # imports that a section's page shows
BATCH = 2000
CHANGED = text("""
    SELECT sections.id, changes.kind, changes.key, change, before, after
    FROM import_changes AS changes
    JOIN terms ON terms.name = split_part(changes.key, E'\\t', 1) AND terms.deleted_at IS NULL
    JOIN sections ON term_id = terms.id AND crn = split_part(changes.key, E'\\t', 2)
    WHERE import_id = :id AND changes.kind IN ('section', 'status', 'teaching')
    ORDER BY sections.id, changes.key COLLATE "C"
""")

# Findings that make a new section a draft, with the fields that lack a value then.
REQUISITES = ("prerequisites", "corequisites")
LACKING = {
    "restriction_unclear": ("restrictions",),
    "restriction_commas": ("restrictions",),
    "unreadable": ("restrictions",),
    "no_tree": REQUISITES,
    **dict.fromkeys(("days_unreadable", "times_unreadable", "dates_unreadable"), ("meetings",)),
    "time_without_days": ("meetings",),
    "credits_unread": ("credits",),
    "taken_unread": ("prior",),
    "waitlist_unread": ("waitlist",),
    "status": ("status",),
}
# Findings that leave the meetings of a section as they are, so that an import has not read them.
MEETINGS_UNREAD = ["meeting_unreadable", "meeting_unclear"]
MEETINGS_UNREAD += [kind for kind, fields in LACKING.items() if fields == ("meetings",)]
# Fields of drafts that an import has read, whether it changed them or not. It never changes how
# many seats are taken. Unedited values of an export do not count.
READ = text("""
    SELECT sections.id, field, rows.fields -> field AS value
    FROM import_rows AS rows
    JOIN terms ON terms.name = split_part(rows.key, E'\\t', 1) AND terms.deleted_at IS NULL
    JOIN sections ON term_id = terms.id AND crn = split_part(rows.key, E'\\t', 2)
    CROSS JOIN unnest(CAST(:fields AS text[])) AS field
    WHERE rows.import_id = :id AND rows.kind = 'section' AND rows.line > 0 AND NOT rows.removes
        AND NOT rows.exported AND rows.fields ? field
        AND sections.status = 'NEW' AND sections.deleted_at IS NULL AND EXISTS (
            SELECT FROM section_imports AS earlier
            WHERE earlier.section_id = sections.id AND earlier.import_id < :id
        ) AND NOT (field = 'meetings' AND EXISTS (
            SELECT FROM import_notes AS notes
            WHERE notes.import_id = :id AND notes.key = crn AND notes.kind = ANY(:unread)
        ))
""")
# Drafts with the newest import that made them, and its findings about them. A doubt about a list
# is noted once for all sections that have it. Settled are fields that an admin has changed since,
# or another import has read. Of a section that was published since, there are none.
UNREAD = text("""
    WITH made AS (
        SELECT DISTINCT ON (section_id) section_id, import_id, at, crn,
            'term:' || term_id || ' section:' || section_id AS subject
        FROM section_imports JOIN sections ON sections.id = section_id
        WHERE section_id = ANY(:ids) AND change IN ('added', 'restored')
            AND status = 'NEW' AND deleted_at IS NULL
        ORDER BY section_id, import_id DESC
    ), noted AS (
        SELECT made.*, kind, position, value, detail FROM made
        JOIN import_notes AS notes ON notes.import_id = made.import_id AND key = crn
        WHERE kind <> 'restriction_commas'
            AND (kind <> 'unreadable' OR "column" IN ('rule', 'kind', 'value'))
        UNION
        SELECT made.*, notes.kind, position, restrictions.value, detail FROM made
        JOIN restrictions USING (section_id)
        JOIN import_notes AS notes ON notes.import_id = made.import_id
            AND left(restrictions.value, 200) = CASE notes.kind
                WHEN 'restriction_commas' THEN detail::json -> 1 ->> 'text' END
    )
    SELECT section_id, import_id, name, at, kind, value, detail, EXISTS (
        SELECT FROM audit_entries AS entries
        CROSS JOIN jsonb_array_elements_text(CAST(:lacking AS jsonb) -> kind) AS field
        WHERE entries.subject = noted.subject AND entries.at > noted.at
            AND before IS NOT NULL AND before -> field IS DISTINCT FROM after -> field
    ) OR EXISTS (
        SELECT FROM section_imports AS later
        CROSS JOIN jsonb_array_elements_text(CAST(:lacking AS jsonb) -> kind) AS field
        WHERE later.section_id = noted.section_id AND later.import_id > noted.import_id
            AND later.fields ? field
    ) AS settled
    FROM noted JOIN imports ON imports.id = import_id
    WHERE CAST(:lacking AS jsonb) ? kind AND NOT EXISTS (
        SELECT FROM audit_entries AS entries
        WHERE entries.subject = noted.subject AND entries.at > noted.at
            AND action = 'section.publish'
    ) ORDER BY section_id, position
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


@dataclass(frozen=True)
class ImportedSection:
    """An import that changed a section; each change is a field with its old and new text."""

    import_id: int
    file: str
    at: datetime
    who: str  # blank at the command line
    change: str
    fields: list[tuple[str, str, str]]


def store(session: Session, import_id: int) -> None:
    """Store what an import has just changed in each section, and which it added."""
    found: dict[int, dict[str, Any]] = defaultdict(lambda: {"change": "changed", "fields": {}})
    for row in session.execute(CHANGED, {"id": import_id}):
        entry = found[row.id]
        if row.kind in {"section", "status"}:
            entry["change"] = row.change
            if row.change == "changed":
                names = changed_fields(row.before, row.after)
                entry["fields"] |= {name: [row.before[name], row.after[name]] for name in names}
        elif row.change in {"added", "removed"}:
            name = row.key.split("\t")[2].removeprefix("@")
            before, after = entry["fields"].setdefault("instructors", [[], []])
            (after if row.change == "added" else before).append(name)
    fields = sorted({name for names in LACKING.values() for name in names} - {"prior"})
    this = {"id": import_id, "fields": fields, "unread": MEETINGS_UNREAD}
    for row in session.execute(READ, this):
        found[row.id]["fields"].setdefault(row.field, [row.value, row.value])
    rows = [{"section_id": each, "import_id": import_id, **found[each]} for each in sorted(found)]
    for start in range(0, len(rows), BATCH):
        session.execute(insert(SectionImport), rows[start : start + BATCH])


def unread_values(session: Session, sections: Collection[int]) -> dict[int, UnreadValues]:
    """Return the values that an import could not read and no one has entered since, by draft."""
    found = drafts_of_unread(session, sections)
    return {section: each for section, each in found.items() if each.values}


def drafts_of_unread(session: Session, sections: Collection[int]) -> dict[int, UnreadValues]:
    """Return the same, also of drafts without such values left."""
    unread: dict[int, UnreadValues] = {}
    query = {"ids": list(sections), "lacking": json.dumps(LACKING)}
    for row in session.execute(UNREAD, query):
        found = unread.setdefault(row.section_id, UnreadValues(row.name, row.at, {}))
        if row.settled:
            continue
        quoted = f"“{row.value}”" if row.value else ""
        if row.kind == "restriction_unclear" or text_of(row.detail) in TIMES:  # not the whole cell
            quoted = translated(row.detail).rstrip(".")
        texts = found.values.setdefault(field_name(LACKING[row.kind][0]), [])
        if (text_ := quoted or translated(row.detail).rstrip(".")) not in texts:
            texts.append(text_)
    return unread


def imports_of(session: Session, section_id: int) -> list[ImportedSection]:
    """Return the imports that changed a section, latest first."""
    query = (
        select(SectionImport, Import.name, Account.name)
        .join(Import, Import.id == SectionImport.import_id)
        .outerjoin(Account, Account.id == Import.account_id)
        .where(SectionImport.section_id == section_id)
        .order_by(SectionImport.import_id.desc())
        .limit(MOST)
    )
    found = [
        ImportedSection(each.import_id, file, each.at, who or "", each.change, _texts(each))
        for each, file, who in session.execute(query)
    ]
    return [each for each in found if each.fields or each.change != "changed"]


def _texts(found: SectionImport) -> list[tuple[str, str, str]]:
    """Return the changed fields in words; a new section has all of them on its page."""
    if found.change == "added":
        return []
    return [
        (field_name(name), *change_texts(name, before, after))
        for name, (before, after) in found.fields.items()
        if before != after
    ]
