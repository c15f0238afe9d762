"""Claims straight at the ledger, past the pages and the rules that they ask."""

from collections.abc import Sequence
from dataclasses import fields as fields_of
from typing import Any

from portal.backend import backend
from portal.ledger.client import Ledger
from portal.ledger.types import (
    Claim,
    Decision,
    LedgerChoice,
    RequestContext,
    SubmissionResult,
    WindowView,
)


def take(kind: type[RequestContext | Claim], fields: dict[str, Any]) -> dict[str, Any]:
    """Take those of the fields that the type has."""
    names = {each.name for each in fields_of(kind)} & fields.keys()
    return {name: fields.pop(name) for name in names}


def context_of(term: int, student: int, fields: dict[str, Any]) -> RequestContext:
    """Take the context of a request out of its fields; what they lack is said to be a test's."""
    given = take(RequestContext, fields)
    return RequestContext(term, student, **{"actor": "tests", "correlation": "tests", **given})


def submit(
    ledger: Ledger,
    term: int,
    choices: Sequence[LedgerChoice],
    content: list[Any] | None = None,
    *,
    student: int,
    **fields: Any,
) -> SubmissionResult:
    """Submit choices; the content of the idempotency key is their sections and credits."""
    content = content or [
        [
            [[[each.section, each.credits] for each in group] for group in choice.alternatives],
            choice.wait,
            choice.swap_out or 0,
        ]
        for choice in choices
    ]
    context = context_of(term, student, fields)
    return ledger.submit(context, choices=choices, content=content, **fields)


def send_claim(
    ledger: Ledger, term: int, *, wait: bool, swap_out: int | None = None, **fields: Any
) -> Decision:
    """Submit a choice of one section; the fields are those of its claim and its submission."""
    choice = LedgerChoice(((Claim(**take(Claim, fields)),),), wait, swap_out)
    [decision] = submit(ledger, term, [choice], **fields).decisions
    return decision


def claim(student: Any, section: Any, *windows: WindowView, wait: bool = True) -> Decision:
    """A seat, else a place in line; through every window of the term unless some are named."""
    ledger = backend().ledger
    return send_claim(
        ledger,
        section.term_id,
        student=student.id,
        section=section.id,
        credits=round(section.credits_min * 100),
        credit_limit=9900,
        windows=[window.id for window in windows or ledger.windows(section.term_id)],
        wait=wait,
    )
