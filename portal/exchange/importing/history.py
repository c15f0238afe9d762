"""What imports changed in each section, for its page."""

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import insert, select, text, update
from sqlalchemy.orm import Session

from portal.catalog.models import Section
from portal.exchange.importing import unread
from portal.exchange.importing.models import Import, SectionImport
from portal.exchange.importing.report import changed_fields
from portal.exchange.importing.review import field_name
from portal.exchange.importing.values import change_texts
from portal.exchange.record_sql import SECTION_CHANGES
from portal.people.models import Account

MOST = 20  # imports that a section's page shows
CHANGED = text(f"""
    SELECT sections.id, changes.kind, changes.key, change, before, after
    FROM {SECTION_CHANGES}
    WHERE import_id = :id AND changes.kind IN ('section', 'status', 'teaching')
    ORDER BY sections.id, changes.key COLLATE "C"
""")


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
    """Store what an import has just changed in each section, and what it could not read of it."""
    found: dict[int, dict[str, Any]] = defaultdict(lambda: {"change": "changed", "fields": {}})
    drafts: list[dict[str, Any]] = []
    for row in session.execute(CHANGED, {"id": import_id}):
        entry = found[row.id]
        if row.kind in {"section", "status"}:
            entry["change"] = row.change
            if row.change == "restored" or "unread" in (row.after or {}):
                drafts.append({"id": row.id, "unread": row.after.get("unread")})
            if row.change == "changed":
                names = changed_fields(row.before, row.after)
                entry["fields"] |= {name: [row.before[name], row.after[name]] for name in names}
        elif row.change in {"added", "removed"}:
            name = row.key.split("\t")[2].removeprefix("@")
            before, after = entry["fields"].setdefault("instructors", [[], []])
            (after if row.change == "added" else before).append(name)
    unread.settle(session, import_id)
    if drafts:
        session.execute(update(Section), drafts)
    rows = [{"section_id": each, "import_id": import_id, **found[each]} for each in sorted(found)]
    if rows:
        session.execute(insert(SectionImport), rows)


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
    ]
