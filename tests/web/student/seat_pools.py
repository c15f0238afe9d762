"""Sections that share seats."""

from sqlalchemy import update

from portal.catalog.models import Pool, Section, Term
from portal.core.db import transaction
from portal.windows.warmup import warm_up
from tests.cast import added


def share(capacity: int, *sections: Section) -> None:
    """Let the sections share so many seats, and update the ledger and pages."""
    pool = added(Pool(term_id=sections[0].term_id, name="Shared", capacity=capacity))
    ids = [each.id for each in sections]
    with transaction() as session:
        newer = {"version": Section.version + 1, "pool_id": pool.id}
        session.execute(update(Section).where(Section.id.in_(ids)).values(newer))
        session.execute(update(Term).values(catalog_version=Term.catalog_version + 1))
    warm_up(sections[0].term_id)
