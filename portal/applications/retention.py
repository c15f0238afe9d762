"""Answers and documents are kept for a time: then they are deleted, or by their person before.

Rows are deleted first. A sweep finds the files that no row names, so a store that is away holds up
nothing.
"""

import logging
import re
from collections.abc import Mapping
from datetime import timedelta

from sqlalchemy import Select, and_, func, or_, select
from sqlalchemy.orm import Session

from portal.applications import fees, service
from portal.applications.documents import delete_files_after, delete_unused, key_of
from portal.applications.history import locked, move
from portal.applications.inspection import DocumentRefused
from portal.applications.kinds import KINDS
from portal.applications.models import (
    EDITABLE,
    ENDED,
    Application,
    ApplicationDocument,
    RetentionRule,
)
from portal.applications.store import store
from portal.core.audit_trail import add_audit_entry
from portal.core.db import transaction
from portal.core.queue import attempt_each

ERASED_AT_ONCE = 500  # applications of one clean-up
SAFE_AGE = timedelta(days=1)  # the row of a younger file may come, or be restored
MOST_FAILURES = 3  # after which the store is taken to be away
FILE = re.compile(r"([1-9][0-9]{0,8})/([0-9a-f]{64})(|\.[0-9a-f]{8})")

log = logging.getLogger(__name__)


def keep_days(session: Session) -> dict[str, int]:
    """Return for how many days the documents of each kind are kept after its last change."""
    rules = {each.kind: each.days for each in session.scalars(select(RetentionRule))}
    return {name: rules.get(name, kind.keep_days) for name, kind in KINDS.items()}


def set_keep_days(wanted: Mapping[str, int], by: int, reason: str) -> None:
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

    Raises DocumentRefused.
    """
    with transaction() as session:
        owner = locked(session, application, account)
        if owner.state not in ENDED:
            raise DocumentRefused("open")
        files = {each.digest for each in owner.documents}
        _erase(session, owner, account)
        delete_files_after(session, owner.id, sorted(files))


def delete_old() -> list[int]:
    """Delete what applications gave once their time is over, each in its own transaction.

    Returns the applications that failed, which leave the others. Raises the errors of ENDS_JOB.
    """
    with transaction() as session:
        numbers = session.scalars(_old(session).with_only_columns(Application.id)).all()
    return attempt_each(numbers, _delete_if_old, "Application %s could not be deleted.")


def _delete_if_old(number: int) -> None:
    """Delete what an application gave, unless it has changed meanwhile.

    One that its person neither changed nor sent in its time is withdrawn first.
    """
    with transaction() as session:
        fees.lock_charges(session, number)
        still = _old(session).where(Application.id == number)
        owner = session.scalar(still.with_for_update(skip_locked=True))
        if owner is None:
            return
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
    if owner.erased_at:
        return
    for each in owner.documents:
        session.delete(each)
    owner.answers, owner.erased_at = {}, func.now()
    move(session, owner, owner.state, "erase", by)


def delete_unused_files() -> None:
    """Delete the old files that no document names; raise OSError after some failures.

    They are left by a store that was away, and by processes that died or could not commit. A file
    of an application that this database does not know stays: it may be another portal's.
    """
    with transaction() as session:
        document = ApplicationDocument
        rows = session.execute(
            select(document.application_id, document.digest).where(document.refused == "")
        )
        named = {key_of(*row) for row in rows}
    deleted, failures = 0, 0
    for key in store().older_than(SAFE_AGE):
        found = FILE.fullmatch(key)
        if found is None or key in named:
            continue
        try:
            deleted += delete_unused(int(found[1]), found[2], found[3])
        except OSError as error:
            failures += 1
            log.warning("An unused file could not be deleted: %s", error)
            if failures == MOST_FAILURES:
                raise
    if deleted:
        log.info("%s files without a document are deleted", deleted)
