"""The fields of a student that an admin may set: one table from which the rest is derived.

It is a table of `catalog/record_details.py`. Imports and exports as OneRoster are derived from its
plain fields, too. `docs/developers-guide.md` shows how to add one.
"""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from portal.catalog import formatting
from portal.catalog.record_details import Lines, RecordDetails, described, text, texts
from portal.core.i18n import _l

MOST_CREDITS = 999


def _parse_codes(written: str) -> tuple[str, ...]:
    return tuple(sorted({each.strip().upper() for each in written.split(",") if each.strip()}))


def _subjects(label: str) -> Any:
    """Define a list of subjects."""
    return texts(
        label,
        stored_as="",
        hint=_l("Codes of subjects with commas between them, such as CSC, MAT."),
        parse=_parse_codes,
        write=", ".join,
    )


def _credits(limit: Decimal | None) -> Lines:
    return [] if limit is None else [formatting.plain_number(limit)]


@dataclass(frozen=True, kw_only=True)
class StudentDetails(RecordDetails):
    """Every field of a student that an admin may set; department, majors and minors are codes.

    Completed courses and privacy have forms of their own.
    """

    # The account has the name and the address.
    name: str = text(_l("Name"), 160, stored_as="", missing=_l("Enter a name."))
    number: str = text(
        _l("Student number"), 32, typed_as="code", missing=_l("Enter a student number.")
    )
    email: str = text(_l("Email"), 254, stored_as="", typed_as="email")
    level: str = text(_l("Level"), 40, suggested="levels")
    year: str = text(_l("Class year"), 40, suggested="years")
    majors: tuple[str, ...] = _subjects(_l("Majors"))
    minors: tuple[str, ...] = _subjects(_l("Minors"))
    degree: str = text(_l("Degree"), 40)
    department: str = described("", _l("Department"), typed_as="choice")
    college: str = text(_l("College"), 160)
    campus: str = text(_l("Campus"), 80)
    credit_limit: Decimal | None = described(  # None = the term's
        None,
        _l("Credit limit"),
        lines=_credits,
        stored_as="numeric",
        most=MOST_CREDITS,
        hint=_l("Leave it blank for the limit of each term."),
    )
