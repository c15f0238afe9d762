"""A plan's lines as JSON: in the database, and in the form that submits them as they are seen."""

import json
from typing import Any

from portal.plans.plan import Line, Option, Part, Plan, checked

LONGEST = 20_000  # characters that a form may send
MOST_ID = 2**31
MOST_CREDITS = 100_000  # hundredths


def pack(plan: Plan) -> list[dict[str, Any]]:
    """The lines as JSON has them."""
    return [{"options": [*map(_packed, line.options)], "wait": line.wait} for line in plan.lines]


def unpack(lines: Any, version: int = 0) -> Plan:
    """The plan of packed lines; raises ValueError where they make none."""
    if not isinstance(lines, list):
        raise ValueError("Lines come in a list.")  # noqa: TRY004 - one error for all nonsense
    return checked(Plan(tuple(map(_line, lines)), version))


def write(plan: Plan) -> str:
    """The lines as a form's field carries them."""
    return json.dumps(pack(plan), separators=(",", ":"))


def read(text: str) -> Plan:
    """The plan of a form's field; raises ValueError where it makes none."""
    if len(text) > LONGEST:
        raise ValueError("No plan is that long.")
    try:
        return unpack(json.loads(text))
    except RecursionError as error:
        raise ValueError("No plan is that deep.") from error


def _packed(option: Option) -> list[list[int]]:
    return [[part.section, *([] if part.credits is None else [part.credits])] for part in option]


def _line(row: Any) -> Line:
    match row:
        case {"options": [*options], "wait": bool(wait), **rest} if not rest:
            return Line(tuple(map(_option, options)), wait)
    raise ValueError("A line has options, and says whether to wait.")


def _option(row: Any) -> Option:
    if not isinstance(row, list):
        raise ValueError("An option is a list of sections.")  # noqa: TRY004
    return tuple(map(_part, row))


def _part(row: Any) -> Part:
    match row:
        case [section]:
            return Part(_number(section, 1, MOST_ID))
        case [section, amount]:
            return Part(_number(section, 1, MOST_ID), _number(amount, 0, MOST_CREDITS))
    raise ValueError("A section comes alone or with its credits.")


def _number(value: Any, least: int, beyond: int) -> int:
    if type(value) is not int or not least <= value < beyond:
        raise ValueError(f"{value!r} is out of range.")
    return value
