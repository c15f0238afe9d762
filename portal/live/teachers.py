"""Who may watch a roster."""

from sqlalchemy import select

from portal.catalog.models import section_teachers
from portal.core.db import transaction
from portal.people.accounts import Visitor


def may_see_roster(visitor: Visitor, section: int) -> bool:
    """Whether the visitor teaches the section, or is an admin."""
    if "admin" in visitor.roles:
        return True
    taught = select(section_teachers.c.section_id).where(
        section_teachers.c.section_id == section,
        section_teachers.c.teacher_id.in_(visitor.teacher_ids),
    )
    with transaction() as session:
        return session.execute(taught).first() is not None
