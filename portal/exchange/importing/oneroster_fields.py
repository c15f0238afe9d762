"""Fields without a column in OneRoster: JSON in `metadata.fairseat`, checked field by field."""

import json
import re
from collections.abc import Callable
from datetime import date, datetime, time
from typing import Any

from marshmallow import Schema, ValidationError, fields, validate

from portal.catalog import grades, requisites
from portal.catalog.record_details import RecordField
from portal.catalog.restrictions import KINDS, RULES
from portal.catalog.section_fields import PLAIN
from portal.catalog.spellings import Unreadable
from portal.catalog.term_fields import TERM_RULES, TermRule
from portal.core.i18n import _k
from portal.core.settings import LONGEST_GRADE
from portal.exchange.importing.tables import Row, is_text
from portal.exchange.records import STUDENT_FIELDS
from portal.registration.reasons import SKIP_CODES
from portal.windows.bands import MOST, MOST_CREDITS

METADATA = "metadata.fairseat"  # the column
STATES = ("NEW", "OPEN", "CONFIRMED", "CANCELED")
MOST_SEATS = 1_000_000
MOST_HUNDREDTHS = 20_000  # of credits
COHORT = ("years", "levels", "subjects", "students")  # of a reserve
MOST_NAMED, LONGEST_NAMED = 500, 120
DEPTH = 20  # of a tree of prerequisites
YEARS = range(1900, 2201)  # of a deadline
DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
MOMENT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}Z")
TIME = re.compile(r"[0-9]{2}:[0-9]{2}(:[0-9]{2})?")


class RowRefused(Exception):
    """The row is not imported. Its arguments are those of `Row.note`."""


def read_metadata(kind: str, row: Row) -> dict[str, Any]:
    """Return the fields of the metadata. Raise RowRefused if it can't be read."""
    if not row[METADATA]:
        return {}
    try:
        written = json.loads(row[METADATA])
        if is_text(written):
            found: dict[str, Any] = SCHEMAS[kind]().load(written)
            return found
    except ValidationError as error:
        parts = ", ".join(map(str, error.messages_dict))[:200]
        why = Unreadable(_k("These values can’t be read: %(parts)s."), parts=parts)
        raise RowRefused("unreadable", METADATA, why) from error
    except (ValueError, RecursionError):
        pass
    raise RowRefused("unreadable", METADATA, _k("It is not valid JSON."))


# Checks of values


def _parsed(text: Any, pattern: re.Pattern[str], parse: Callable[[str], Any]) -> Any:
    """Return what a text of this pattern says, None if it is none."""
    try:
        return parse(text) if isinstance(text, str) and pattern.fullmatch(text) else None
    except ValueError:
        return None


def _is_tree(value: Any, depth: int = 0) -> bool:
    match value:
        case {"course": str()} if len(value) == 1:
            return True
        case {"course": str(), "grade": str(grade)} if len(value) == 2:
            return grades.known(grade) is not None
        case {"all": [*inner]} | {"any": [*inner]} if len(value) == 1 and inner and depth < DEPTH:
            return all(_is_tree(each, depth + 1) for each in inner)
    return False


def _is_ungraded(value: Any) -> bool:
    return _is_tree(value) and all("grade" not in leaf for leaf in requisites.leaves(value))


def _is_meeting(value: Any) -> bool:
    match value:
        case [str(kind), int(days), starts, ends, str(first), str(last), str(room), bool()]:
            pass
        case _:
            return False
    from_, to = (_parsed(each, TIME, time.fromisoformat) for each in (starts, ends))
    opens, closes = (_parsed(each, DATE, date.fromisoformat) for each in (first, last))
    return (
        len(kind) <= 12
        and len(room) <= 80
        and not isinstance(days, bool)
        and 0 <= days <= 127
        and ((starts is None and ends is None) or (None not in (from_, to) and from_ < to))
        and None not in (opens, closes)
        and bool(opens <= closes)
    )


def _is_day(value: Any) -> bool:
    day = _parsed(value, DATE, date.fromisoformat) if isinstance(value, str) else None
    return day is not None and day.year in YEARS


def _is_reserve(value: Any) -> bool:
    match value:
        case [int(seats), {**cohort}, None | str() as until] if not isinstance(seats, bool):
            return (
                0 <= seats <= MOST_SEATS
                and _is_cohort(cohort)
                and (until is None or bool(_parsed(until, MOMENT, datetime.fromisoformat)))
            )
    return False


def _is_cohort(cohort: dict[Any, Any]) -> bool:
    return bool(cohort) and all(
        kind in COHORT
        and isinstance(names, list)
        and 0 < len(names) <= MOST_NAMED
        and all(isinstance(each, str) and len(each) <= LONGEST_NAMED for each in names)
        for kind, names in cohort.items()
    )


def _is_band(band: Any) -> bool:
    """Return whether a value is a band of a waitlist, as in portal/windows/bands.py."""
    if not isinstance(band, dict) or not band:
        return False
    least, own = band.get("credits", 1), band.get("own_major", True)
    cohort = {name: each for name, each in band.items() if name not in {"credits", "own_major"}}
    counts = isinstance(least, int) and not isinstance(least, bool) and 0 < least <= MOST_CREDITS
    named = not cohort or ("students" not in cohort and _is_cohort(cohort))
    return counts and own is True and named


def _is_distinct(values: list[Any]) -> bool:
    return len(set(values)) == len(values)


def _must(check: Callable[[Any], bool]) -> Callable[[Any], None]:
    """Return a validator for a check."""

    def validator(value: Any) -> None:
        if not check(value):
            raise ValidationError("Invalid value.")

    return validator


# Fields


def _text(most: int, least: int = 0, *, none: bool = False) -> fields.Field[Any]:
    return fields.String(allow_none=none, validate=validate.Length(least, most))


def _name(most: int, least: int = 0) -> fields.Field[Any]:
    """Return a field for a part of a key: a text without the characters that separate parts."""
    one_line = validate.ContainsNoneOf("\t\n")
    return fields.String(validate=[validate.Length(least, most), one_line])


def _number(most: int, least: int = 0, *, none: bool = False) -> fields.Field[Any]:
    return fields.Integer(allow_none=none, validate=validate.Range(least, most))


def _one_of(values: Any) -> fields.Field[Any]:
    return fields.String(validate=validate.OneOf(values))


def _plain(field: RecordField) -> fields.Field[Any]:
    match field.stored_as:
        case "int":
            return _number(MOST_SEATS)
        case "numeric":
            return _number(MOST_HUNDREDTHS, none=True)
        case "bool":
            return fields.Boolean()
        case "jsonb":
            check = _is_ungraded if field.name == "corequisites" else _is_tree
            return fields.Raw(allow_none=True, validate=_must(check))
        case _:
            return fields.String() if field.several_lines else _text(field.longest)


def _rule(rule: TermRule) -> fields.Field[Any]:
    match rule.kind:
        case "credits":
            return _number(MOST_HUNDREDTHS, none=rule.optional)
        case "number":
            return _number(rule.most, rule.least, none=rule.optional)
        case "reasons":
            return fields.List(_one_of(SKIP_CODES))
        case "day":
            return fields.Raw(allow_none=True, validate=_must(_is_day))


HUNDREDTHS = _number(MOST_HUNDREDTHS)
CREDITS = fields.List(
    HUNDREDTHS, validate=_must(lambda span: len(span) == 2 and span[0] <= span[1])
)
# A course that was passed, its term, grade and credits.
COMPLETED = fields.Tuple((_text(24), _text(80), _text(LONGEST_GRADE), HUNDREDTHS))
STUDENT = Schema.from_dict(
    {
        "department": _text(16, none=True),
        **{each.name: _plain(each) for each in STUDENT_FIELDS},
        "majors": fields.List(_text(16)),
        "minors": fields.List(_text(16)),
        "private": fields.Boolean(),
        "adviser": _text(64, 1, none=True),
        "completed": fields.List(
            COMPLETED, validate=_must(lambda all_: _is_distinct([code for code, *_ in all_]))
        ),
    }
)
INSTRUCTOR = Schema.from_dict(
    {"name": _text(160, 1), "email": _text(254), "department": _text(16, none=True)}
)
SCHEMAS = {
    # With `subject` it is a subject of that department, or of none.
    "department": Schema.from_dict(
        {"school": _text(160), "subject": fields.String(allow_none=True)}
    ),
    "term": Schema.from_dict(
        {
            **{name: _rule(each) for name, each in TERM_RULES.items()},
            "bands": fields.List(
                fields.Raw(validate=_must(_is_band)), validate=validate.Length(max=MOST)
            ),
        }
    ),
    "course": Schema.from_dict(
        {
            "subject": _text(16),
            "department": _text(16),
            "description": fields.String(),
            "offered": _text(200),
            "credits": CREDITS,
            "categories": fields.List(_text(60)),
        }
    ),
    "section": Schema.from_dict(
        {
            **{each.name: _plain(each) for each in PLAIN if each.name != "title"},
            "crn": _text(24, 1),
            # Teachers without an account, who can't be users: name and department.
            "instructors": fields.List(fields.Tuple((_name(160), _name(16)))),
            "credits": CREDITS,
            "prior": _number(MOST_SEATS),
            "status": _one_of(STATES),
            "meetings": fields.List(fields.Raw(validate=_must(_is_meeting))),
            "restrictions": fields.List(
                fields.Tuple((_one_of(sorted(RULES)), _one_of(KINDS), _text(120))),
                validate=_must(_is_distinct),
            ),
            "cross_lists": fields.List(_text(24), validate=_must(_is_distinct)),
            # Seats that are shared with other sections: a name, and how many there are.
            "pool": fields.Tuple((_name(80, 1), _number(MOST_SEATS)), allow_none=True),
            # Seats, cohort, and the end in UTC.
            "reserves": fields.List(fields.Raw(validate=_must(_is_reserve))),
        }
    ),
    "enrollment": Schema.from_dict({"credits": HUNDREDTHS}),
    "user": Schema.from_dict(
        {"student": fields.Nested(STUDENT), "teacher": fields.Nested(INSTRUCTOR)}
    ),
}
