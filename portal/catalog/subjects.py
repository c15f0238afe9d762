"""What subjects are called."""

from sqlalchemy import select
from sqlalchemy.orm import Session

from portal.catalog.models import Subject
from portal.core.cache import Cache
from portal.core.db import transaction


def labels(codes: list[str]) -> list[str]:
    """Names with their codes, such as `Computer Science (CSC)`; the code of one not known."""
    return _labels(codes, _names.get("all") if codes else {})


def known_labels(codes: list[str]) -> list[str]:
    """The same by the names as this process has last learned them: asks nobody."""
    return _labels(codes, _names.peek("all") or {})


def learn(session: Session) -> None:
    """Remember the names as they are now."""
    _names.fill(lambda: {"all": _read(session)})


def forget() -> None:
    """Let go of the names, as tests with a new database must."""
    _names.clear()


def read(_which: str) -> dict[str, str]:
    """The names by code as they are now."""
    with transaction() as session:
        return _read(session)


def _labels(codes: list[str], names: dict[str, str]) -> list[str]:
    return [f"{names[code]} ({code})" if names.get(code) else code for code in codes]


def _read(session: Session) -> dict[str, str]:
    return dict(session.execute(select(Subject.code, Subject.name)).all())


_names = Cache(read, seconds=0)
