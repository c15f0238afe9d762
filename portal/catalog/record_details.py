"""The fields of a record that an admin may set, compared and stored in the audit trail."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from hashlib import sha256
from typing import Any, ClassVar, Self

from portal.catalog.sections import Difference
from portal.core.i18n import in_language

Lines = list[str]  # a value as people read it
Field = tuple[Any, Callable[[Any], Lines]]  # its label, and how it is read


def text_lines(value: Any) -> Lines:
    """Return a text, or another value that reads as one."""
    return str(value).splitlines() if value is not None else []


@dataclass(frozen=True, kw_only=True)
class RecordDetails:
    """The base of the details of courses, students and instructors."""

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
