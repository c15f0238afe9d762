"""The fields of a record that an admin may set: one table from which the rest is derived.

Each attribute of a class derived from `RecordDetails` describes a field completely. Forms,
differences on confirmation pages, the audit trail and its labels follow. A plain field stands in a
column of its own. How it is stored follows, too, and how those of sections and students are
imported and exported; `exchange/records.py` lists those of courses and instructors.
"""

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from hashlib import sha256
from typing import Any, ClassVar, Generic, Literal, Self, TypeVar

from sqlalchemy import ColumnElement, Exists, exists, select
from sqlalchemy.orm import Session

from portal.core.audit_trail import AuditEntry, add_audit_entry
from portal.core.db import ChangedMeanwhile
from portal.core.i18n import in_language

Lines = list[str]  # a value as people read it


@dataclass(frozen=True)
class Difference:
    """A field that differs between two versions of a record."""

    label: str
    old: Lines
    new: Lines


def text_lines(value: Any) -> Lines:
    """Return a value as one text, nothing if it is blank."""
    return [str(value)] if str(value) else []


@dataclass(frozen=True, kw_only=True)
class RecordField:
    """The description of a field; `name` is its key in forms, records and the audit trail."""

    name: str
    label: str
    lines: Callable[[Any], Lines] = text_lines
    hint: str = ""
    # The column that stores a plain field unchanged; it has the name of the field by default.
    column: str
    stored_as: Literal["", "text", "int", "numeric", "bool", "array", "jsonb"] = ""
    longest: int = 0  # characters of a text
    most: int = 0  # of a number
    missing: str = ""  # the error for a blank value; "" if the field is optional
    several_lines: bool = False
    # If it is not simply a text: browsers do not check the spelling of a code.
    typed_as: Literal["", "code", "email", "choice"] = ""
    suggested: str = ""  # the kind of cohorts whose names the form suggests
    # A field that is typed as a text of its own form: how it is read and written.
    parse: Callable[[str], Any] | None = None  # raises ValueError
    write: Callable[[Any], str] = str

    @property
    def plain(self) -> bool:
        """Return whether a column of the record's table stores it unchanged."""
        return bool(self.stored_as)


def described(default: Any, label: str, **more: Any) -> Any:
    """Define an attribute by its default and the description of the field."""
    return dataclasses.field(default=default, metadata={"label": label, **more})


def text(label: str, longest: int, **more: Any) -> Any:
    """Define a plain text."""
    return described("", label, **{"longest": longest, "stored_as": "text"} | more)


def texts(label: str, **more: Any) -> Any:
    """Define a list of texts, plain if it is an array."""
    return described((), label, **{"lines": list, "stored_as": "array"} | more)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordDetails:
    """The base of the details of courses, sections, students, instructors and accounts."""

    FIELD: ClassVar[type[RecordField]] = RecordField
    PARTS: ClassVar[tuple[str, ...]] = ()  # of a form, in order, where fields have a `part`

    @classmethod
    @cache
    def fields(cls) -> Mapping[str, Any]:
        """Return the descriptions of the fields by name, in the order in which people read them."""
        found: list[Any] = [
            cls.FIELD(**{"name": each.name, "column": each.name, **each.metadata})
            for each in dataclasses.fields(cls)
        ]
        if cls.PARTS:
            found.sort(key=lambda each: cls.PARTS.index(each.part))
        return {each.name: each for each in found}

    @classmethod
    @cache
    def plain_fields(cls) -> tuple[Any, ...]:
        """Return the fields that a column stores unchanged."""
        return tuple(each for each in cls.fields().values() if each.plain)

    @classmethod
    def plain_values(cls, row: Any) -> dict[str, Any]:
        """Return the values of the plain fields that a row stores, by name."""
        found = ((each, getattr(row, each.column)) for each in cls.plain_fields())
        return {
            each.name: tuple(value) if each.stored_as == "array" else value for each, value in found
        }

    def write_plain(self, row: Any) -> None:
        """Write the values of the plain fields to a row."""
        for each in self.plain_fields():
            value = getattr(self, each.name)
            setattr(row, each.column, [*value] if each.stored_as == "array" else value)

    @classmethod
    def labels(cls) -> dict[str, str]:
        """Return the label of each field by name."""
        return {name: each.label for name, each in cls.fields().items()}

    @property
    def mark(self) -> str:
        """Return what tells these details from others, for a form to send back."""
        values = [getattr(self, each.name) for each in dataclasses.fields(self)]
        return sha256(repr(values).encode()).hexdigest()

    @property
    def lines(self) -> list[tuple[str, Lines]]:
        """Return the label and the value of each field."""
        found = self.fields()
        return [(str(each.label), each.lines(getattr(self, name))) for name, each in found.items()]

    @property
    def facts(self) -> dict[str, Any]:
        """Return the details as the audit trail stores them."""
        with in_language(""):
            values = zip(self.fields(), self.lines, strict=True)
        return {name: each if len(each) > 1 else "".join(each) for name, (_label, each) in values}

    def differences(self, new: Self) -> list[Difference]:
        """Return the fields that differ in `new`, as people read them."""
        return [
            Difference(
                str(each.label), each.lines(getattr(self, name)), each.lines(getattr(new, name))
            )
            for name, each in self.fields().items()
            if getattr(self, name) != getattr(new, name)
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


def by_code(
    session: Session, model: Any, codes: Iterable[str], *, locked: bool = False
) -> dict[str, Any]:
    """Return departments or subjects by their codes, if wanted locked against their deletion.

    Raise ChangedMeanwhile if one is deleted.
    """
    wanted = set(codes)
    found = select(model).where(model.code.in_(wanted), model.deleted_at.is_(None))
    if locked:
        found = found.order_by(model.id).with_for_update(read=True)
    known = {each.code: each for each in session.scalars(found)}
    if wanted - known.keys():
        raise ChangedMeanwhile
    return known
