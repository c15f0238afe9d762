"""The terms that are offered."""

from sqlalchemy import select

from portal.catalog.models import Term
from portal.core.cache import Cache
from portal.core.db import transaction


def live_terms() -> list[Term]:
    """Terms that are not deleted, the latest first; those last known while PostgreSQL is away."""
    return _terms.get("live")


def offered_terms() -> list[Term]:
    """The same without those for practice, as whoever is no admin is shown them."""
    return [term for term in live_terms() if not term.practice]


def read(_which: str) -> list[Term]:
    """The terms as they are now."""
    with transaction() as session:
        found = select(Term).where(Term.deleted_at.is_(None)).order_by(Term.starts_on.desc())
        return list(session.scalars(found))


_terms = Cache(read, seconds=0)
