"""Restrictions in words: who may take a section, and why a student can't."""

from collections.abc import Iterable

from portal.catalog.requisites import all_of, any_of
from portal.core.i18n import _, _l, _n

SHOWN = 4  # values that a refusal names

# By kind: the students a section is for, and the name of the field in the student's record.
_KINDS = {
    "level": (_l("%(names)s students"), _l("level")),
    "major": (_l("majors in %(names)s"), _l("major")),
    "field_of_study": (_l("students of %(names)s"), _l("field of study")),
    "classification": (_l("class year %(names)s"), _l("class year")),
    "degree": (_l("students for the degree %(names)s"), _l("degree")),
    "program": (_l("students of the program %(names)s"), _l("program")),
    "campus": (_l("students of the campus %(names)s"), _l("campus")),
    "college": (_l("students of %(names)s"), _l("college")),
}


def why_restricted(rule: str, kind: str, values: list[str], have: list[str]) -> str:
    """Return why a restriction refuses: who the section is for, and what the record says."""
    attribute = _attribute(kind)
    if have:
        record = _(
            "Your record shows %(attribute)s %(have)s.", attribute=attribute, have=all_of(have)
        )
    else:
        record = _(
            "Your record has no %(attribute)s. Ask the registrar to add it.", attribute=attribute
        )
    return f"{_sentence(rule, kind, values, SHOWN)}. {record}"


def audience(restrictions: Iterable[tuple[str, str, str]]) -> list[str]:
    """Return the students a section is for and not for, with every value."""
    return [_sentence(rule, kind, values) for (rule, kind), values in grouped(restrictions).items()]


def grouped(restrictions: Iterable[tuple[str, str, str]]) -> dict[tuple[str, str], list[str]]:
    """Return the values of each rule and kind: any value is enough, but every kind must hold."""
    groups: dict[tuple[str, str], list[str]] = {}
    for rule, kind, value in restrictions:
        groups.setdefault((rule, kind), []).append(value)
    return groups


def _sentence(rule: str, kind: str, values: list[str], most: int | None = None) -> str:
    """Return the students a section is for; values beyond `most` are only counted."""
    cut = most is not None and len(values) > most + 1
    others = len(values) - (most or 0)
    named = [*values[:most], _n("%(num)s other", "%(num)s others", others)] if cut else values
    cohort = _students(kind, any_of(named))
    if rule == "must_be":
        return _("Only for %(whom)s", whom=cohort)
    return _("Not for %(whom)s", whom=cohort)


def _students(kind: str, names: str) -> str:
    if kind in _KINDS:
        return str(_KINDS[kind][0]) % {"names": names}
    return _("students with %(attribute)s %(names)s", attribute=_attribute(kind), names=names)


def _attribute(kind: str) -> str:
    return str(_KINDS[kind][1]) if kind in _KINDS else kind.replace("_", " ")
