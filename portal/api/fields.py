"""Fields of requests, which take nothing for what it is not: no "5" for 5, no 1 for true."""

import re
from decimal import Decimal
from typing import Any

import marshmallow as ma

from portal.api.wrongs import within
from portal.core.i18n import _

LARGEST = 2**31 - 1  # of PostgreSQL's ids
DIGITS = re.compile(r"[0-9]{1,10}")
KEY = re.compile(r"[A-Za-z0-9_-]{8,64}")
MOST_CREDITS = 99


class Whole(ma.fields.Integer):
    """A whole number: in JSON a number, in an address (`text`) digits alone."""

    def __init__(
        self, least: int = 0, most: int = LARGEST, *, text: bool = False, **facts: Any
    ) -> None:
        super().__init__(validate=within(least, most), **facts)
        self.text = text

    def _validated(self, value: Any) -> int:
        fits = DIGITS.fullmatch(str(value)) if self.text else type(value) is int
        if not fits:
            raise self.make_error("invalid", input=value)
        return int(value)


class Id(Whole):
    """An id of ours."""

    def __init__(self, **facts: Any) -> None:
        super().__init__(1, **facts)


class Yes(ma.fields.Boolean):
    """True or false, in an address (`text`) spelled just so."""

    def __init__(self, *, text: bool = False, **facts: Any) -> None:
        super().__init__(**facts)
        self.text = text

    def _deserialize(self, value: Any, *_: Any, **__: Any) -> bool:
        if self.text and value in {"true", "false"}:
            return bool(value == "true")
        if self.text or not isinstance(value, bool):
            raise self.make_error("invalid", input=value)
        return value


class Credits(ma.fields.Decimal):
    """An amount of credits, a number such as 3 or 1.5."""

    def __init__(self, description: str) -> None:
        told = {"minimum": 0, "maximum": MOST_CREDITS, "description": description}
        super().__init__(validate=within(0, MOST_CREDITS), metadata=told)

    def _validated(self, value: Any) -> Decimal:
        if type(value) not in {int, float}:
            raise self.make_error("invalid", input=value)
        return super()._validated(value)


class Key(ma.fields.String):
    """A name that a client gives its request."""

    def __init__(self, **facts: Any) -> None:
        told = {
            "description": "A name of your own for this request: 8 to 64 letters, digits, - or _.",
            "pattern": f"^{KEY.pattern}$",
            "examples": ["2030-08-01-morning"],
        }
        super().__init__(validate=_is_key, metadata=told, **facts)


def _is_key(value: str) -> None:
    if not KEY.fullmatch(value):
        raise ma.ValidationError(_("Must be 8 to 64 letters, digits, hyphens or underscores."))
