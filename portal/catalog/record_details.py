"""The fields of a record that an admin may set, compared and stored in the audit trail."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from hashlib import sha256
from typing import Any, ClassVar, Generic, Self, TypeVar

from sqlalchemy import ColumnElement, Exists, exists, select
from sqlalchemy.orm import Session

from portal.catalog.section_fields import Difference, Lines
from portal.core.audit_trail import AuditEntry, add_audit_entry
from portal.core.db import ChangedMeanwhile
from portal.core.i18n import in_language

Field = tuple[Any, Callable[[Any], Lines]]  # its label, and how it is read


def text_lines(value: Any) -> Lines:
    """Return a text, or another value that reads as one."""
    return str(value).splitlines() if value is not None else []


@dataclass(frozen=True, kw_only=True)
class RecordDetails:
    """The base of the details of courses, students, instructors and accounts."""

    FIELDS: ClassVar[Mapping[str, Field]] = {}  # in the order in which people read them

    @classmethod
    def labels(cls) -> dict[str, str]:
        """Return the label of each field by name."""
        return {name: label for name, (label, _lines) in cls.FIELDS.items()}

    @property
    def mark(self) -> str:
        """Return what tells these details from others, for a form to send back."""
        values = [getattr(self, each.name) for each in fields(self)]
        return sha256(repr(values).encode()).hexdigest()

    @property
    def lines(self) -> list[tuple[str, Lines]]:
        """Return the label and the value of each field."""
        return [
            (str(label), read(getattr(self, each))) for each, (label, read) in self.FIELDS.items()
        ]

    @property
    def facts(self) -> dict[str, Any]:
        """Return the details as the audit trail stores them."""
        with in_language(""):
            found = {each: read(getattr(self, each)) for each, (_, read) in self.FIELDS.items()}
        return {name: each if len(each) > 1 else "".join(each) for name, each in found.items()}

    def differences(self, new: Self) -> list[Difference]:
        """Return the fields that differ in `new`, as people read them."""
        return [
            Difference(str(label), read(getattr(self, each)), read(getattr(new, each)))
            for each, (label, read) in self.FIELDS.items()
            if getattr(self, each) != getattr(new, each)
        ]


Details = TypeVar("Details", bound=RecordDetails)


class Taken(ChangedMeanwhile):
    """Another record, possibly a deleted one, has the code, number, username or address."""


@dataclass(frozen=True)
class RecordChange(Generic[Details]):
    """The details that an admin gives a record, and why; `seen` marks those that the form showed.

    A new record has none. The same form may be sent twice.
    """

    wanted: Details
    by: int
    reason: str
    seen: str = ""

    def differs(self, before: Details, deleted_at: datetime | None = None) -> bool:
        """Return whether the stored details differ from the wanted ones.

        Raise ChangedMeanwhile if the record is deleted, or differs from what the form showed.
        """
        if deleted_at is None and before == self.wanted:
            return False
        if deleted_at or before.mark != self.seen:
            raise ChangedMeanwhile
        return True

    def note(
        self,
        session: Session,
        action: str,
        subject: str,
        before: Details | None = None,
        **more: str,
    ) -> None:
        """Store the change in the audit trail, for a new record with `more` facts."""
        add_audit_entry(
            session,
            action,
            subject,
            by=self.by,
            before=before.facts if before else None,
            after={**more, **self.wanted.facts},
            reason=self.reason,
        )

    def made_before(self, action: str, subject: ColumnElement[str]) -> Exists:
        """Return the condition that the admin has created the record of a subject."""
        return exists().where(
            AuditEntry.action == action,
            AuditEntry.subject == subject,
            AuditEntry.account_id == self.by,
        )


def ids_by_code(session: Session, model: Any, codes: Iterable[str]) -> dict[str, int]:
    """Return the ids of departments or subjects. Raise ChangedMeanwhile if one is deleted."""
    wanted = set(filter(None, codes))
    found = select(model.code, model.id).where(model.code.in_(wanted), model.deleted_at.is_(None))
    ids: dict[str, int] = dict(session.execute(found).all())
    if wanted - ids.keys():
        raise ChangedMeanwhile
    return ids
