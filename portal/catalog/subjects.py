"""Subjects by name."""

from sqlalchemy import select
from sqlalchemy.orm import Session

from portal.catalog.models import Subject
from portal.core.cache import Cache
from portal.core.db import transaction


def labels(codes: list[str]) -> list[str]:
    """Return subjects by name and code: `Computer Science (CSC)`; unknown ones by code alone."""
    return _labels(codes, _names.get("all") if codes else {})


def known_labels(codes: list[str]) -> list[str]:
    """Return the labels from memory, without a query."""
    return _labels(codes, _names.peek("all") or {})


def learn(session: Session) -> None:
    """Remember the names as they are now."""
    _names.fill(lambda: {"all": _read(session)})


def forget() -> None:
    """Drop the names in memory, as tests with a new database must."""
    _names.clear()


def _labels(codes: list[str], names: dict[str, str]) -> list[str]:
    return [f"{names[code]} ({code})" if names.get(code) else code for code in codes]


def _read_all(_which: str) -> dict[str, str]:
    with transaction() as session:
        return _read(session)


def _read(session: Session) -> dict[str, str]:
    return dict(session.execute(select(Subject.code, Subject.name)).all())


_names = Cache(_read_all, seconds=0)
