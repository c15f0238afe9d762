"""The stages of applications, and who decides those of a department and of an instructor."""

from sqlalchemy import ColumnElement, Select, and_, any_, case, exists, false, func, or_, select
from sqlalchemy.orm import aliased

from portal.applications.kinds import KINDS
from portal.applications.models import REVIEW, Application
from portal.catalog.models import Course, Department, Instructor, Section, section_instructors
from portal.core.db import transaction
from portal.people.models import Account


def waits_for(stage: str) -> ColumnElement[bool]:
    """Return the condition for an application that those of a stage decide next.

    The registrar decides in place of the instructor if none of the section can.
    """
    if stage == "instructor":
        return at_stage(stage) & _has_instructor()
    if stage == "registrar":
        return at_stage(stage) | at_stage("instructor") & ~_has_instructor()
    return at_stage(stage)


def stages_of(application: Application) -> list[str]:
    """Return who decides the application, in order."""
    stages = list(KINDS[application.kind].stages)
    if "instructor" not in stages:
        return stages
    taught = select(Application.id).where(Application.id == application.id, _has_instructor())
    with transaction() as session:
        if session.scalar(taught) is not None:
            return stages
    return ["registrar" if each == "instructor" else each for each in stages]


def at_stage(stage: str) -> ColumnElement[bool]:
    """Return the condition for an application whose next stage is that one."""
    places = ((kind, kind.stages.index(stage)) for kind in KINDS.values() if stage in kind.stages)
    conditions = [
        and_(Application.kind == kind.name, Application.stage == place) for kind, place in places
    ]
    return or_(false(), *conditions)


def decided_by(account: ColumnElement[int | None] | int) -> ColumnElement[bool]:
    """Return the condition for applications that an account may decide now, other than as an admin.

    They are in review, of another person, and wait for a department that the account decides for,
    or for an instructor of a section that it teaches. An application waits for the department of
    its section, or of its courses if they have the same.
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
    teaches = Application.section_id.in_(_sections_of(account))
    return and_(
        Application.state == REVIEW,
        Application.account_id != account,
        or_(
            and_(at_stage("department"), department.in_(_departments_of(account))),
            and_(at_stage("instructor"), teaches),
        ),
    )


def deciders_of(application: int) -> ColumnElement[bool]:
    """Return the condition for accounts that may decide an application now, except admins."""
    # From the few instructors with the right, or of the section, not from each account.
    linked, taught = aliased(Instructor), section_instructors.c
    teaches = exists().where(
        taught.instructor_id == linked.id, taught.section_id == Application.section_id
    )
    found = (
        select(linked.account_id)
        .join(Application, Application.id == application)
        .where(or_(linked.decides_for_id.is_not(None), teaches))
        .where(decided_by(linked.account_id.expression))
    )
    return Account.id.in_(found.correlate(None))


def is_decider(account: int) -> bool:
    """Return whether the account decides for a department, or teaches a section with consent.

    An account that has an application to decide stays one until that is done.
    """
    gives = _sections_of(account).where(Section.consent, Section.deleted_at.is_(None))
    waiting = select(Application.id).where(decided_by(account))
    with transaction() as session:
        return any(
            session.scalar(found.limit(1)) is not None
            for found in (_departments_of(account), gives, waiting)
        )


def departments_of(account: int) -> list[str]:
    """Return the codes of the departments that the account decides for now."""
    found = select(Department.code).where(Department.id.in_(_departments_of(account)))
    with transaction() as session:
        return list(session.scalars(found.order_by(Department.code)))


def _has_instructor() -> ColumnElement[bool]:
    """Return the condition for an application: an instructor of its section has an account."""
    owner, teacher, section = aliased(Account), aliased(Instructor), section_instructors.c
    return (
        exists()
        .where(section.section_id == Application.section_id, teacher.id == section.instructor_id)
        .where(owner.id == teacher.account_id, owner.id != Application.account_id)
        .where(owner.deleted_at.is_(None), teacher.deleted_at.is_(None))
    )


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


def _sections_of(account: ColumnElement[int | None] | int) -> Select[int]:
    """Return the sections that the account teaches."""
    owner, teacher, section = aliased(Account), aliased(Instructor), section_instructors.c
    return (
        select(Section.id)
        .join(section_instructors, section.section_id == Section.id)
        .join(teacher, teacher.id == section.instructor_id)
        .join(owner, owner.id == teacher.account_id)
        .where(owner.id == account, owner.deleted_at.is_(None), teacher.deleted_at.is_(None))
        .correlate_except(Section, section_instructors, teacher, owner)
    )
