"""Fields of requests and responses: a value must have its own JSON type, never "5" for 5."""

import re
from decimal import Decimal
from typing import Any

from marshmallow import ValidationError, fields
from marshmallow.validate import Length, Range

from portal.core.i18n import _, _l
from portal.core.moments import moment

LARGEST_ID = 2**31 - 1  # of PostgreSQL's integer columns
DIGITS = re.compile(r"[0-9]{1,10}")
KEY = re.compile(r"[A-Za-z0-9_-]{8,64}")
MOST_CREDITS = 99

# Marshmallow's own messages, listed here so that they get translated.
MESSAGES = (
    _l("Missing data for required field."),
    _l("Unknown field."),
    _l("Field may not be null."),
    _l("Invalid input type."),
    _l("Not a valid string."),
    _l("Not a valid integer."),
    _l("Not a valid number."),
    _l("Not a valid boolean."),
    _l("Not a valid list."),
    _l("Special numeric values (nan or infinity) are not permitted."),
)


def between(least: int, most: int) -> Range:
    """Limit a number, both ends included."""
    return Range(least, most, error=_l("Must be from {min} to {max}."))


def items(least: int, most: int) -> Length:
    """Limit the number of items of a list."""
    return Length(least, most, error=_l("Must have from {min} to {max} items."))


def characters(least: int, most: int) -> Length:
    """Limit the length of a text."""
    return Length(least, most, error=_l("Must have from {min} to {max} characters."))


class Id(fields.Integer):
    """The id of a record, in a JSON body."""

    def __init__(self, description: str = "", **options: Any) -> None:
        metadata = {"description": description} if description else {}
        super().__init__(strict=True, validate=between(1, LARGEST_ID), metadata=metadata, **options)


class QueryInteger(fields.Integer):
    """A whole number in a query string: digits alone."""

    def __init__(self, least: int = 1, most: int = LARGEST_ID, **options: Any) -> None:
        super().__init__(validate=between(least, most), **options)

    def _validated(self, value: Any) -> int:
        if not DIGITS.fullmatch(str(value)):
            raise self.make_error("invalid", input=value)
        return int(value)


class StrictBoolean(fields.Boolean):
    """True or false in a JSON body; 1 and "yes" are neither."""

    def _deserialize(self, value: Any, *_: Any, **__: Any) -> bool:
        if not isinstance(value, bool):
            raise self.make_error("invalid", input=value)
        return value


class Credits(fields.Decimal):
    """A number of credits, such as 3 or 1.5."""

    def __init__(self, description: str) -> None:
        metadata = {"minimum": 0, "maximum": MOST_CREDITS, "description": description}
        super().__init__(validate=between(0, MOST_CREDITS), metadata=metadata)

    def _validated(self, value: Any) -> Decimal:
        if type(value) not in {int, float}:
            raise self.make_error("invalid", input=value)
        return super()._validated(value)


class IdempotencyKey(fields.String):
    """The key under which a request is decided once."""

    def __init__(self, **options: Any) -> None:
        metadata = {
            "description": "A name of your own for this request: 8 to 64 letters, digits, - or _.",
            "pattern": f"^{KEY.pattern}$",
            "examples": ["2030-08-01-morning"],
        }
        super().__init__(validate=_check_key, metadata=metadata, **options)


class Moment(fields.DateTime):
    """A moment in a response, from milliseconds of the ledger's clock or from a datetime."""

    def _serialize(self, value: Any, *args: Any, **options: Any) -> Any:
        at = moment(value) if isinstance(value, int) else value
        return super()._serialize(at, *args, **options)


def described(field: type[fields.Field[Any]], description: str, **options: Any) -> Any:
    """Return a response field with a description for the document."""
    return field(metadata={"description": description}, **options)


def one_of(*values: str, **options: Any) -> fields.String:
    """Return a text field of a response that has one of these values."""
    return fields.String(metadata={"enum": list(values), **options.pop("metadata", {})}, **options)


def _check_key(value: str) -> None:
    if not KEY.fullmatch(value):
        raise ValidationError(_("Must be 8 to 64 letters, digits, hyphens or underscores."))
