"""Restrictions of who may take a section, in words."""

from collections.abc import Iterable

from portal.seats.trees import listed

SHOWN = 4

_WHOM = {
    "level": "{} students",
    "major": "majors in {}",
    "field_of_study": "students of {}",
    "classification": "class year {}",
    "degree": "students for the degree {}",
    "campus": "students of the campus {}",
    "college": "students of {}",
}
_RECORD = {"field_of_study": "field of study", "classification": "class year"}


def restriction(rule: str, kind: str, values: list[str], have: list[str]) -> str:
    """Why a restriction refuses: whom the section is for, and what the record says."""
    return f"{_sentence(rule, kind, values, SHOWN)}. {_have(kind, have)}"


def audience(restrictions: Iterable[tuple[str, str, str]]) -> list[str]:
    """Whom a section is for and not for, every value named."""
    return [_sentence(rule, kind, values) for (rule, kind), values in grouped(restrictions).items()]


def grouped(restrictions: Iterable[tuple[str, str, str]]) -> dict[tuple[str, str], list[str]]:
    """The values of each rule and kind: any of them counts, but every kind must hold."""
    groups: dict[tuple[str, str], list[str]] = {}
    for rule, kind, value in restrictions:
        groups.setdefault((rule, kind), []).append(value)
    return groups


def _sentence(rule: str, kind: str, values: list[str], most: int | None = None) -> str:
    """More values than `most` are counted."""
    cut = most is not None and len(values) > most + 1
    named = [*values[:most], f"{len(values) - (most or 0)} others"] if cut else values
    whom = _WHOM.get(kind, "students with " + kind.replace("_", " ") + " {}")
    phrase = whom.format(listed(named, "or"))
    return f"For {phrase} only" if rule == "must_be" else f"Not for {phrase}"


def _have(kind: str, have: list[str]) -> str:
    attribute = _RECORD.get(kind, kind.replace("_", " "))
    if not have:
        return f"Your record names no {attribute}: ask the registrar to add it."
    return f"Your record says {attribute} {listed(have, 'and')}."
