"""Seat pools: seats that cross-listed sections of a term share."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

from sqlalchemy import select
from sqlalchemy.orm import Session

from portal.catalog import requisites
from portal.catalog.models import Course, Pool, Section
from portal.catalog.record_details import Difference, Lines
from portal.core.i18n import _, _n

FEWEST = 2  # sections that make a pool


@dataclass(frozen=True)
class Member:
    """A section of a pool; `name` as people say it."""

    id: int
    name: str


@dataclass(frozen=True)
class SeatPool:
    """A pool of seats and its sections, by name; `id` and `version` are 0 where it is new."""

    id: int
    version: int
    name: str
    capacity: int
    members: tuple[Member, ...]

    @property
    def lines(self) -> list[str]:
        """Return the pool in lines of text."""
        heading = _n(
            "%(name)s: %(num)s seat shared by",
            "%(name)s: %(num)s seats shared by",
            self.capacity,
            name=self.name,
        )
        return [heading, *(each.name for each in self.members)]

    @property
    def ids(self) -> set[int]:
        """Its sections."""
        return {each.id for each in self.members}

    @property
    def mark(self) -> str:
        """Return what tells this version from others and other pools, for a form to send back."""
        return f"{self.id}-{self.version}"

    def differences(self, new: Self) -> list[Difference]:
        """Return the fields that differ in `new`; a single section shares nothing."""
        labels = (_("Name"), _("Shared seats"), _("Sections"))
        fields = zip(labels, self._values, new._values, strict=True)
        return [Difference(*each) for each in fields if each[1] != each[2]]

    @property
    def _values(self) -> list[Lines]:
        if len(self.members) < FEWEST:
            return [[], [], []]
        return [[self.name], [str(self.capacity)], [each.name for each in self.members]]


def of_section(session: Session, section: Section) -> SeatPool | None:
    """Return the pool of a section, None where its seats are its own alone."""
    pool = session.get(Pool, section.pool_id) if section.pool_id else None
    if pool is None:
        return None
    found = (
        select(Section.id, Course.code, Section.number)
        .join(Course)
        .where(Section.pool_id == pool.id)
        .order_by(Course.code, Section.number, Section.id)
    )
    members = tuple(
        Member(id_, requisites.section_name(code, number))
        for id_, code, number in session.execute(found)
    )
    return SeatPool(pool.id, pool.version, pool.name, pool.capacity, members)


def find_or_create(session: Session, term_id: int, wanted: SeatPool) -> Pool | None:
    """Return the row of a pool, new if `wanted.id` is 0; None if it has changed meanwhile."""
    if not wanted.id:
        pool = Pool(term_id=term_id, name=wanted.name, capacity=wanted.capacity, version=0)
        session.add(pool)
        session.flush()
        return pool
    known = session.get(Pool, wanted.id)
    same = known and (known.version, known.term_id) == (wanted.version, term_id)
    return known if same else None


def store(session: Session, pool: Pool, sections: Iterable[Section], wanted: SeatPool) -> None:
    """Store the pool and its sections, and raise all versions: sections carry it to the ledger."""
    lasts = len(wanted.members) >= FEWEST
    pool.name, pool.capacity, pool.version = wanted.name, wanted.capacity, pool.version + 1
    for section in sections:
        section.pool_id = pool.id if lasts and section.id in wanted.ids else None
        section.version += 1
    session.flush()
    if not lasts:
        session.delete(pool)
