"""What people gave is kept for a time: it is deleted afterwards, or by its person before."""

from collections.abc import Mapping
from datetime import timedelta

from sqlalchemy import Select, and_, func, or_, select
from sqlalchemy.orm import Session

from portal.applications import fees, service
from portal.applications.documents import key_of
from portal.applications.history import locked, move
from portal.applications.inspection import Refused
from portal.applications.kinds import KINDS
from portal.applications.models import EDITABLE, ENDED, Application, RetentionRule
from portal.applications.store import store
from portal.core.audit_trail import add_audit_entry
from portal.core.db import transaction

ERASED_AT_ONCE = 500  # applications of one clean-up


def keep_days(session: Session) -> dict[str, int]:
    """Return for how many days the documents of each kind are kept after its last change."""
    rules = {each.kind: each.days for each in session.scalars(select(RetentionRule))}
    return {name: rules.get(name, kind.keep_days) for name, kind in KINDS.items()}


def set_keep_days(wanted: Mapping[str, int], by: int, reason: str) -> None:
    """Set these times."""
    with transaction() as session:
        before = keep_days(session)
        for kind, days in wanted.items():
            session.merge(RetentionRule(kind=kind, days=days))
        session.flush()
        add_audit_entry(
            session,
            "application.retention",
            "applications",
            by=by,
            before=before,
            after=keep_days(session),
            reason=reason,
        )


def erase(application: int, account: int) -> None:
    """Delete the answers and documents of an application that has ended, for its person.

    Raises Refused.
    """
    with transaction() as session:
        owner = locked(session, application, account)
        if owner.state not in ENDED:
            raise Refused("open")
        _erase(session, owner, account)


def delete_old() -> None:
    """Delete what applications gave once their time is over, each in its own transaction.

    An application that its person neither changed nor sent in that time is withdrawn first.
    """
    with transaction() as session:
        numbers = session.scalars(_old(session).with_only_columns(Application.id)).all()
    for number in numbers:
        with transaction() as session:
            fees.hold(session, number)
            still = _old(session).where(Application.id == number)
            owner = session.scalar(still.with_for_update(skip_locked=True))
            if owner is None:  # changed meanwhile
                continue
            if owner.state in EDITABLE:
                service.withdraw_unsent(session, owner)
            _erase(session, owner, None)


def _old(session: Session) -> Select[Application]:
    """Return the oldest of the applications whose time is over."""
    times = (
        and_(Application.kind == kind, Application.changed_at < func.now() - timedelta(days))
        for kind, days in keep_days(session).items()
    )
    return (
        select(Application)
        .where(Application.erased_at.is_(None), Application.state.in_((*ENDED, *EDITABLE)))
        .where(or_(*times))
        .order_by(Application.changed_at, Application.id)
        .limit(ERASED_AT_ONCE)
    )


def _erase(session: Session, owner: Application, by: int | None) -> None:
    """Delete the contents first: a process that dies leaves rows, and the next one repeats it."""
    if owner.erased_at:
        return
    for each in owner.documents:
        store().delete(key_of(owner.id, each.digest))
        session.delete(each)
    owner.answers, owner.erased_at = {}, func.now()
    move(session, owner, owner.state, "erase", by)
