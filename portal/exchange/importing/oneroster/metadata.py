"""Fields without a column in OneRoster: JSON in `metadata.fairseat`, checked field by field."""

import json
import re
from datetime import date, datetime, time
from typing import Any

from marshmallow import Schema, ValidationError, fields, validate

from portal.catalog.restrictions import KINDS
from portal.catalog.section_fields import PLAIN, SectionField
from portal.core.i18n import _k, stored_message
from portal.exchange.importing.oneroster.files import MORE
from portal.exchange.importing.report import Report
from portal.exchange.importing.tables import Row, is_text
from portal.registration.reasons import SKIP_CODES

RULES = ("must_be", "may_not_be")
STATES = ("NEW", "OPEN", "CONFIRMED", "CANCELED")
MOST_SEATS = 1_000_000
SEATS = validate.Range(0, MOST_SEATS)
COHORT = ("years", "levels", "subjects", "students")  # of a reserve
MOST_NAMED, LONGEST_NAMED = 500, 120
DEPTH = 20  # of a tree of prerequisites
DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
MOMENT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}Z")
TIME = re.compile(r"[0-9]{2}:[0-9]{2}(:[0-9]{2})?")


def _text(most: int) -> fields.Field[Any]:
    return fields.String(validate=validate.Length(max=most))


def _texts(most: int) -> fields.Field[Any]:
    return fields.List(_text(most))


def _tree(value: Any, depth: int = 0) -> None:
    match value:
        case {"course": str(), **others} if not others:
            return
        case {"all": [*inner]} | {"any": [*inner]} if len(value) == 1 and inner and depth < DEPTH:
            for each in inner:
                _tree(each, depth + 1)
        case _:
            raise ValidationError("is no tree of courses.")


def _meeting(value: Any) -> None:
    match value:
        case [str(kind), int(days), starts, ends, str(first), str(last), str(room), bool()]:
            sound = len(kind) <= 12 and len(room) <= 80 and _days(days)
            sound = sound and _times(starts, ends) and _dates(first, last)
        case _:
            sound = False
    if not sound:
        raise ValidationError("is no meeting.")


def _days(mask: int) -> bool:
    return not isinstance(mask, bool) and 0 <= mask <= 127


def _times(starts: Any, ends: Any) -> bool:
    if starts is None and ends is None:
        return True
    if not all(isinstance(each, str) and TIME.fullmatch(each) for each in (starts, ends)):
        return False
    try:
        return time.fromisoformat(starts) < time.fromisoformat(ends)
    except ValueError:
        return False


def _dates(first: str, last: str) -> bool:
    if not (DATE.fullmatch(first) and DATE.fullmatch(last)):
        return False
    try:
        return date.fromisoformat(first) <= date.fromisoformat(last)
    except ValueError:
        return False


def _reserve(value: Any) -> None:
    match value:
        case [int(seats), {**cohort}, None | str() as until]:
            sound = not isinstance(seats, bool) and 0 <= seats <= MOST_SEATS and _cohort(cohort)
            sound = sound and (until is None or _moment(until))
        case _:
            sound = False
    if not sound:
        raise ValidationError("keeps no seats.")


def _cohort(cohort: dict[Any, Any]) -> bool:
    return bool(cohort) and all(
        kind in COHORT
        and isinstance(names, list)
        and 0 < len(names) <= MOST_NAMED
        and all(isinstance(each, str) and len(each) <= LONGEST_NAMED for each in names)
        for kind, names in cohort.items()
    )


def _moment(written: str) -> bool:
    try:
        return bool(MOMENT.fullmatch(written) and datetime.fromisoformat(written))
    except ValueError:
        return False


def _distinct(values: list[Any]) -> None:
    if len(set(values)) < len(values):
        raise ValidationError("has something twice.")


def _courses(values: list[Any]) -> None:
    _distinct([code for code, *_others in values])


def _one_line(value: str) -> None:
    if "\t" in value or "\n" in value:
        raise ValidationError("is no name.")


def _range(value: list[int]) -> None:
    if len(value) != 2 or value[0] > value[1]:
        raise ValidationError("is no range.")


def _plain(field: SectionField) -> fields.Field[Any]:
    match field.stored_as:
        case "int":
            return fields.Integer(validate=SEATS)
        case "jsonb":
            return fields.Raw(allow_none=True, validate=_tree)
        case _:
            return fields.String() if field.several_lines else _text(field.longest)


HUNDREDTHS = fields.Integer(validate=validate.Range(0, 20_000))  # of credits
CREDITS = fields.List(HUNDREDTHS, validate=_range)
# A course that was passed, its term, grade and credits.
COMPLETED = fields.Tuple((_text(24), _text(80), _text(8), HUNDREDTHS))
RULE = fields.Tuple(
    (
        fields.String(validate=validate.OneOf(RULES)),
        fields.String(validate=validate.OneOf(KINDS)),
        _text(120),
    )
)
NAME = fields.String(validate=[validate.Length(max=160), _one_line])
POOL = fields.String(validate=[validate.Length(1, 80), _one_line])
CODE_OR_NONE = fields.String(validate=[validate.Length(max=16), _one_line])
CODE = fields.String(allow_none=True, validate=validate.Length(max=16))
STUDENT = Schema.from_dict(
    {
        "department": CODE,
        "level": _text(40),
        "year": _text(40),
        "degree": _text(40),
        "campus": _text(80),
        "college": _text(160),
        "majors": _texts(16),
        "minors": _texts(16),
        "credit_limit": fields.Integer(allow_none=True, validate=validate.Range(0, 20_000)),
        "private": fields.Boolean(),
        "completed": fields.List(COMPLETED, validate=_courses),
    }
)
TEACHER = Schema.from_dict(
    {
        "name": fields.String(validate=validate.Length(1, 160)),
        "email": _text(254),
        "department": CODE,
    }
)

MORE_OF = {
    "department": Schema.from_dict(
        # With `subject` it is a subject of that department, or of none.
        {"school": _text(160), "subject": fields.String(allow_none=True)}
    ),
    "term": Schema.from_dict(
        {
            "credit_limit": HUNDREDTHS,
            "drops_per_day": fields.Integer(validate=validate.Range(0, 1000)),
            "pass_limit": fields.Integer(allow_none=True, validate=validate.Range(1, 100)),
            "pass_codes": fields.List(fields.String(validate=validate.OneOf(SKIP_CODES))),
        }
    ),
    "course": Schema.from_dict(
        {
            "subject": _text(16),
            "department": _text(16),
            "description": fields.String(),
            "offered": _text(200),
            "credits": CREDITS,
            "categories": _texts(60),
        }
    ),
    "section": Schema.from_dict(
        {
            **{each.name: _plain(each) for each in PLAIN if each.name != "title"},
            "crn": fields.String(validate=validate.Length(1, 24)),
            # Those without an account, who can be no users: name and department.
            "teachers": fields.List(fields.Tuple((NAME, CODE_OR_NONE))),
            "credits": CREDITS,
            "prior": fields.Integer(validate=SEATS),
            "status": fields.String(validate=validate.OneOf(STATES)),
            "meetings": fields.List(fields.Raw(validate=_meeting)),
            "restrictions": fields.List(RULE, validate=_distinct),
            "cross_lists": fields.List(_text(24), validate=_distinct),
            # Seats that are shared with other sections: a name, and how many there are.
            "pool": fields.Tuple((POOL, fields.Integer(validate=SEATS)), allow_none=True),
            # Seats, cohort, and the end in UTC.
            "reserves": fields.List(fields.Raw(validate=_reserve)),
        }
    ),
    "enrollment": Schema.from_dict({"credits": fields.Integer(validate=validate.Range(0, 20_000))}),
    "user": Schema.from_dict(
        {"student": fields.Nested(STUDENT), "teacher": fields.Nested(TEACHER)}
    ),
}


def more_of(kind: str, row: Row, report: Report) -> dict[str, Any] | None:
    """Return the fields of the metadata. Report it and return None if it can't be read."""
    if not row[MORE]:
        return {}
    try:
        found: dict[str, Any] = MORE_OF[kind]().load(_written(row[MORE]))
    except ValidationError as error:
        parts = ", ".join(map(str, error.messages_dict))
        wrong = stored_message(_k("These values can’t be read: %(parts)s."), parts=parts[:200])
    except (ValueError, RecursionError):
        wrong = stored_message(_k("It is not valid JSON."))
    else:
        return found
    report.note("unreadable", row, MORE, wrong)
    return None


def _written(text: str) -> Any:
    value = json.loads(text)
    if not is_text(value):
        raise ValueError("It holds signs that no text has.")
    return value
