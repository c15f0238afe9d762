"""The grades of the institution: which of two is the better one.

FAIRSEAT_GRADES lists them, best first. A grade that it does not list, such as F or one of another
university, meets no minimum grade.
"""

from collections.abc import Mapping
from functools import lru_cache

from portal.backend import backend

Ranks = tuple[tuple[str, ...], ...]  # best first; grades of one rank together


def listed() -> list[str]:
    """Return all grades, best first."""
    return [grade for rank in backend().settings.grades for grade in rank]


def known(written: str) -> str | None:
    """Return a grade as the setting spells it, None if it has no such grade."""
    return next((grade for grade in listed() if grade.casefold() == written.casefold()), None)


def meets(grade: str, minimum: str) -> bool:
    held, needed = _rank(grade), _rank(minimum)
    return held is not None and needed is not None and held <= needed


def better(grade: str, other: str) -> str:
    """Return the better of two grades; a listed grade is better than any other."""
    return other if _rank(grade) is None or meets(other, grade) else grade


def _rank(grade: str) -> int | None:
    return _places(backend().settings.grades).get(grade.casefold())


@lru_cache(maxsize=8)
def _places(ranks: Ranks) -> Mapping[str, int]:
    return {grade.casefold(): at for at, rank in enumerate(ranks) for grade in rank}
