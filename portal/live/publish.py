"""A word to the open pages of one person, from whatever process has something to say."""

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
    """Have the student's pages of the term get `fs:<signal>`; one that is away asks on return."""
    note = {"student": student, "signal": signal, "detail": dict(detail or {})}
    _publish(f"{prefix(term)}:told", note)


def notice_arrived(account: int) -> None:
    """Have the pages of somebody who is no student get `fs:notice`."""
    _publish(f"{{a:{account}}}:notice", {})


def roster_changed(term: int, section: int) -> None:
    """Have the pages that show a roster ask for it anew, though nothing has been recorded."""
    _publish(f"{prefix(term)}:recorded", {"sections": [section], "seq": 0})


def privacy_changed(student: int) -> None:
    """Refresh the rosters that the student is on."""
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
    """Have the pages of an account connect anew: those whose session has ended are refused."""
    _publish(f"{{a:{account}}}:ended", {})


def _publish(channel: str, note: dict[str, Any]) -> None:
    with suppress(RedisError):
        backend().redis.publish(channel, json.dumps(note))
