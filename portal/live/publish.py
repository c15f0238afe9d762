"""Messages to the open pages of one person, from any process."""

import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Literal

from redis.exceptions import RedisError
from sqlalchemy import select

from portal.backend import backend
from portal.core.db import transaction
from portal.ledger.function_library import prefix
from portal.recorder.models import Enrollment, WaitlistEntry


def signal_student(
    term: int,
    student: int,
    signal: Literal["plan", "notice"],
    detail: Mapping[str, Any] | None = None,
) -> None:
    """Send `fs:<signal>` to the student's pages of the term; a disconnected page asks on return."""
    message = {"student": student, "signal": signal, "detail": dict(detail or {})}
    _publish(f"{prefix(term)}:signal", message)


def signal_account(account: int) -> None:
    """Send `fs:notice` to the pages of an account that is not a student's."""
    _publish(f"{{a:{account}}}:notification", {})


def roster_changed(term: int, section: int) -> None:
    """Make open rosters of the section reload, although nothing was recorded."""
    _publish(f"{prefix(term)}:recorded", {"sections": [section], "seq": 0})


def privacy_changed(student: int) -> None:
    """Refresh the rosters that list the student."""
    with transaction() as session:
        found = [
            tuple(row)
            for model, states in (
                (Enrollment, ("enrolled",)),
                (WaitlistEntry, ("waiting", "passed")),
            )
            for row in session.execute(
                select(model.term_id, model.section_id).where(
                    model.student_id == student, model.state.in_(states)
                )
            )
        ]
    for term, section in found:
        roster_changed(term, section)


def sessions_ended(account: int) -> None:
    """Make the pages of an account reconnect: those with an ended session are refused."""
    _publish(f"{{a:{account}}}:ended", {})


def _publish(channel: str, message: dict[str, Any]) -> None:
    with suppress(RedisError):
        backend().redis.publish(channel, json.dumps(message))
