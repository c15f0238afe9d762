"""The stages of applications, and who decides the stage of a department."""

from sqlalchemy import ColumnElement, Select, and_, any_, case, false, func, or_, select
from sqlalchemy.orm import aliased

from portal.applications.kinds import KINDS
from portal.applications.models import REVIEW, Application
from portal.catalog.models import Course, Department, Instructor, Section
from portal.core.db import transaction
from portal.people.models import Account


def at_stage(stage: str) -> ColumnElement[bool]:
    """Return the condition for an application whose next stage is that one."""
    places = ((kind, kind.stages.index(stage)) for kind in KINDS.values() if stage in kind.stages)
    conditions = [
        and_(Application.kind == kind.name, Application.stage == place) for kind, place in places
    ]
    return or_(false(), *conditions)


def decided_by(account: ColumnElement[int | None] | int) -> ColumnElement[bool]:
    """Return the condition for applications that an account may decide for its department now.

    They are in review at that stage, of another person, and about a section of the department, or
    about courses of that department alone.
    """
    section = (
        select(Course.department_id)
        .join(Section, Section.course_id == Course.id)
        .where(Section.id == Application.section_id)
        .correlate(Application)
    )
    alone = func.count(Course.department_id.distinct()) == 1
    named = (
        select(case((alone, func.min(Course.department_id))))
        .where(Course.id == any_(Application.course_ids))
        .correlate(Application)
    )
    department = case(
        (Application.section_id.is_not(None), section.scalar_subquery()),
        else_=named.scalar_subquery(),
    )
    return and_(
        Application.state == REVIEW,
        Application.account_id != account,
        at_stage("department"),
        department.in_(_departments_of(account)),
    )


def deciders_of(application: int) -> ColumnElement[bool]:
    """Return the condition for accounts that may decide an application for its department now."""
    # From the few instructors with the right, not from each account.
    linked = aliased(Instructor)
    found = (
        select(linked.account_id)
        .join(Application, Application.id == application)
        .where(linked.decides_for_id.is_not(None), decided_by(linked.account_id.expression))
    )
    return Account.id.in_(found.correlate(None))


def is_decider(account: int) -> bool:
    """Return whether the account decides for a department now."""
    with transaction() as session:
        return session.scalar(_departments_of(account).limit(1)) is not None


def departments_of(account: int) -> list[str]:
    """Return the codes of the departments that the account decides for now."""
    found = select(Department.code).where(Department.id.in_(_departments_of(account)))
    with transaction() as session:
        return list(session.scalars(found.order_by(Department.code)))


def _departments_of(account: ColumnElement[int | None] | int) -> Select[int | None]:
    """Return the departments that the account decides for."""
    owner = aliased(Account)
    return (
        select(Instructor.department_id)
        .join(owner, owner.id == Instructor.account_id)
        .where(owner.id == account, owner.deleted_at.is_(None))
        .where(Instructor.decides_for_id == Instructor.department_id)
        .where(Instructor.deleted_at.is_(None))
        .correlate_except(Instructor, owner)
    )
