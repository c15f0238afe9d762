"""What has been done to a section, out of the audit trail."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from portal.catalog.editing.details import Details
from portal.catalog.editing.store import Seen
from portal.catalog.editing.words import FIELDS, facts
from portal.core.db import transaction
from portal.core.i18n import in_language
from portal.people.models import AuditEntry


def at_version(session: Session, subject: str, version: int) -> Mapping[str, Any] | None:
    """The facts of a section as they were at a version, None where nobody has noted them."""
    for side in (AuditEntry.before, AuditEntry.after):
        found = select(side).where(
            AuditEntry.subject == subject, side["version"].as_integer() == version
        )
        known: Mapping[str, Any] | None = session.scalar(found.limit(1))
        if known:
            return known
    return None


def done_from(action: str, several: Sequence[Seen], by: int) -> bool:
    """Whether the account has done it already, to each of them as it was seen."""
    subjects = {f"term:{each.term_id} section:{each.section_id}": each for each in several}
    found = select(AuditEntry.subject, AuditEntry.before["version"].as_integer()).where(
        AuditEntry.subject.in_(subjects),
        AuditEntry.action == f"section.{action}",
        AuditEntry.account_id == by,
    )
    with transaction() as session:
        done = {(subject, version) for subject, version in session.execute(found)}
    return done >= {(subject, seen.version) for subject, seen in subjects.items()}


def changed(base: Mapping[str, Any] | None, now: Details) -> set[str]:
    """The fields that differ from noted facts; all of them where there are none."""
    with in_language(""):
        told = facts(now)
    return {name for name in FIELDS if base is None or base.get(name) != told[name]}
