"""Register, drop and leave a waitlist as a student, without a browser."""

from collections.abc import Sequence
from decimal import Decimal
from uuid import uuid4

from portal.ledger.types import Decision, RequestContext
from portal.registration import commands
from portal.registration.credits import hundredths
from portal.registration.requests import Choice, SectionRequest


def context(student: int, term: int, key: str = "") -> RequestContext:
    return RequestContext(term, student, "test", "test", key or uuid4().hex)


def claim(
    student: int,
    term: int,
    section: int,
    *,
    key: str = "",
    credit: Decimal | None = None,
    wait: bool = False,
    swap_out: int | None = None,
) -> Decision:
    """Register for one section."""
    request = SectionRequest(section, None if credit is None else hundredths(credit))
    choice = Choice(((request,),), wait, swap_out)
    [decision] = commands.claim(context(student, term, key), choice)
    return decision


def drop(
    student: int, term: int, section: int, along: Sequence[int] = (), key: str = ""
) -> Decision:
    return commands.drop(context(student, term, key), section, along)


def leave(student: int, term: int, section: int, key: str = "") -> Decision:
    return commands.leave_waitlist(context(student, term, key), section)
