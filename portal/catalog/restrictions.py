"""Restrictions as people write them, a line each: `must be major: Computer Science`."""

from collections.abc import Iterable

from portal.catalog.spellings import Unclear
from portal.core.i18n import _

Restriction = tuple[str, str, str]  # rule, kind, value
RULES = {"must_be", "may_not_be"}
KINDS = {
    *("level", "major", "classification", "field_of_study"),
    *("degree", "program", "campus", "college"),
}
OTHER_NAMES = {
    "levels": "level",
    "majors": "major",
    "class": "classification",
    "classifications": "classification",
    "year": "classification",
    "fields_of_study": "field_of_study",
    "degrees": "degree",
    "programs": "program",
    "campuses": "campus",
    "colleges": "college",
}
LONGEST = 120  # characters of a value
MOST = 100  # lines
EXAMPLE = "must be level: Graduate"


def parse(text: str) -> tuple[Restriction, ...]:
    """Return the restrictions of a text without repeats. Raise `Unclear`, naming the line."""
    lines = [line.strip() for line in text.splitlines()]
    if len(lines) > MOST:
        raise Unclear(_("There are more than %(most)s lines.", most=MOST))
    found = (_parse(line, number) for number, line in enumerate(lines, 1) if line)
    return tuple(dict.fromkeys(found))


def write(restrictions: Iterable[Restriction]) -> str:
    """Return the text that `parse` reads back as these restrictions."""
    spelled = ((_spaced(rule), _spaced(kind), value) for rule, kind, value in restrictions)
    return "\n".join(f"{rule} {kind}: {value}" for rule, kind, value in spelled)


def stored_name(text: str) -> str:
    """Return a rule or kind as it is stored: `must_be` for `Must be`."""
    return "_".join(text.lower().replace("-", " ").replace("_", " ").split())


def kind_of(text: str) -> str:
    """Return the kind that a text names; `classification` for `year`."""
    return OTHER_NAMES.get(stored_name(text), stored_name(text))


def _parse(line: str, number: int) -> Restriction:
    head, _colon, value = (part.strip() for part in line.partition(":"))
    attribute = stored_name(head)
    rule = next((each for each in RULES if attribute.startswith(f"{each}_")), "")
    if not rule:
        raise _unclear(number, _("start with “must be” or “may not be”, as in “%(example)s”."))
    kind = kind_of(attribute.removeprefix(f"{rule}_"))
    if kind not in KINDS:
        raise _unclear(number, _("write one of %(kinds)s after “must be” or “may not be”."))
    if not value or len(value) > LONGEST:
        raise _unclear(number, _("write one value after the colon, as in “%(example)s”."))
    return rule, kind, value


def _unclear(number: int, advice: str) -> Unclear:
    facts = {"example": EXAMPLE, "kinds": ", ".join(sorted(_spaced(each) for each in KINDS))}
    return Unclear(_("Line %(number)s: %(advice)s", number=number, advice=advice % facts))


def _spaced(name: str) -> str:
    return name.replace("_", " ")
