"""Restrictions of who may take a section, in words."""

from collections.abc import Iterable

from portal.catalog.requisites import all_of, any_of
from portal.core.i18n import _, _l, _n

SHOWN = 4

_WHOM = {
    "level": _l("%(names)s students"),
    "major": _l("majors in %(names)s"),
    "field_of_study": _l("students of %(names)s"),
    "classification": _l("class year %(names)s"),
    "degree": _l("students for the degree %(names)s"),
    "campus": _l("students of the campus %(names)s"),
    "college": _l("students of %(names)s"),
}
_RECORD = {
    "level": _l("level"),
    "major": _l("major"),
    "field_of_study": _l("field of study"),
    "classification": _l("class year"),
    "degree": _l("degree"),
    "campus": _l("campus"),
    "college": _l("college"),
}


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
    others = len(values) - (most or 0)
    named = [*values[:most], _n("%(num)s other", "%(num)s others", others)] if cut else values
    whom = _whom(kind, any_of(named))
    if rule == "must_be":
        return _("For %(whom)s only", whom=whom)
    return _("Not for %(whom)s", whom=whom)


def _whom(kind: str, names: str) -> str:
    if kind in _WHOM:
        return str(_WHOM[kind]) % {"names": names}
    return _("students with %(attribute)s %(names)s", attribute=_attribute(kind), names=names)


def _have(kind: str, have: list[str]) -> str:
    attribute = _attribute(kind)
    if not have:
        return _(
            "Your record names no %(attribute)s: ask the registrar to add it.", attribute=attribute
        )
    return _("Your record says %(attribute)s %(have)s.", attribute=attribute, have=all_of(have))


def _attribute(kind: str) -> str:
    return str(_RECORD.get(kind, kind.replace("_", " ")))
