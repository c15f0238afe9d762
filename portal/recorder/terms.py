"""Terms by the name that a command is told."""

from sqlalchemy import select

from portal.catalog.models import Term
from portal.core.db import transaction


def named(name: str = "") -> list[tuple[int, str]]:
    """Number and name of the term of that name, or of every term; raises LookupError."""
    found = select(Term.id, Term.name).where(Term.deleted_at.is_(None)).order_by(Term.id)
    with transaction() as session:
        terms = [(row.id, row.name) for row in session.execute(found)]
    chosen = [term for term in terms if name in {"", term[1]}]
    if name and not chosen:
        raise LookupError(f"There is no term named {name!r}.")
    return chosen
