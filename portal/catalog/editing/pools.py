"""Seats that sections share, as they are stored and as they are to be."""

from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from portal.catalog import requisites
from portal.catalog.models import Course, Pool, Section
from portal.core.i18n import _


@dataclass(frozen=True)
class Member:
    """A section that shares; `name` as people say it."""

    id: int
    name: str


@dataclass(frozen=True)
class Shared:
    """A pool of seats and its sections, by name; `id` and `version` are 0 where it is new."""

    id: int
    version: int
    name: str
    capacity: int
    members: tuple[Member, ...]

    @property
    def words(self) -> list[str]:
        """All of it in lines."""
        heading = _("%(name)s: %(seats)s seats shared by", name=self.name, seats=self.capacity)
        return [heading, *(each.name for each in self.members)]

    @property
    def ids(self) -> set[int]:
        """Its sections."""
        return {each.id for each in self.members}


def of(session: Session, section: Section) -> Shared | None:
    """What a section has a share in, None where its seats are its own alone."""
    pool = session.get(Pool, section.pool_id) if section.pool_id else None
    if pool is None:
        return None
    found = (
        select(Section.id, Course.code, Section.number)
        .join(Course)
        .where(Section.pool_id == pool.id)
        .order_by(Course.code, Section.number, Section.id)
    )
    members = (
        Member(id_, f"{requisites.shown(code)}-{no}") for id_, code, no in session.execute(found)
    )
    return Shared(pool.id, pool.version, pool.name, pool.capacity, tuple(members))
