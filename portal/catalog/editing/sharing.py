"""Stores which sections share seats: the pool and all of its sections in one step."""

from collections.abc import Collection, Iterable

from sqlalchemy import select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from portal.catalog.editing import store
from portal.catalog.editing.errors import NotPossible, Stale
from portal.catalog.editing.pools import Shared
from portal.catalog.models import Pool, Section
from portal.core.db import transaction

FEWEST = 2  # sections; what one has alone is shared with nobody


def share(term_id: int, wanted: Shared, deed: store.Deed) -> set[int]:
    """Have the seats shared so, by fewer than two sections no more; the sections that it concerns.

    `wanted.id` and `wanted.version` are those of the pool that the change is based on, 0 for a new
    one. Raises Stale, or NotPossible where a section can't share.
    """
    try:
        with transaction() as session:
            store.move(session, term_id)  # one at a time, so that what is read here stays true
            pool = _pool(session, term_id, wanted)
            before = set(session.scalars(select(Section.id).where(Section.pool_id == pool.id)))
            sections = _sections(session, term_id, before | wanted.ids)
            _check(sections, wanted, pool)
            was = [store.as_stored(session, each) for each in sections]
            _set(session, pool, sections, wanted)
            for section, old in zip(sections, was, strict=True):
                store.note(session, "share", old, store.again(session, section), deed)
            return {each.id for each in sections}
    except IntegrityError as error:
        raise NotPossible("pool_name_taken") from error


def _pool(session: Session, term_id: int, wanted: Shared) -> Pool:
    if not wanted.id:
        pool = Pool(term_id=term_id, name=wanted.name, capacity=wanted.capacity, version=0)
        session.add(pool)
        session.flush()
        return pool
    known = session.get(Pool, wanted.id)
    if known is None or known.version != wanted.version or known.term_id != term_id:
        raise Stale(0)
    return known


def _sections(session: Session, term_id: int, ids: Collection[int]) -> list[Section]:
    found = select(Section).where(Section.term_id == term_id, Section.id.in_(ids))
    sections = list(session.scalars(found.order_by(Section.id).with_for_update()))
    for missing in sorted(set(ids) - {each.id for each in sections}):
        raise NotPossible("unknown", missing)
    return sections


def _check(sections: Iterable[Section], wanted: Shared, pool: Pool) -> None:
    for section in sections:
        if section.id not in wanted.ids or section.pool_id == pool.id:
            continue
        if section.deleted_at or section.status not in store.EDITABLE:
            raise NotPossible("deleted" if section.deleted_at else section.status, section.id)
        if section.pool_id:
            raise NotPossible("pooled", section.id)


def _set(session: Session, pool: Pool, sections: Iterable[Section], wanted: Shared) -> None:
    """Raise all versions, as each section carries its pool to the ledger."""
    lasts = len(wanted.members) >= FEWEST
    pool.name, pool.capacity, pool.version = wanted.name, wanted.capacity, pool.version + 1
    for section in sections:
        section.pool_id = pool.id if lasts and section.id in wanted.ids else None
        section.version += 1
    session.flush()
    if not lasts:
        session.delete(pool)
