"""The student's commands: register and claim (also as a swap), drop, and leave a waitlist.

The rules read from caches, so a decision runs no database query.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from portal.backend import backend
from portal.catalog.term_catalog import published_catalog
from portal.core.metrics import DECISIONS, REFUSALS
from portal.core.queue import enqueue
from portal.ledger.types import Decision, Outcome, RequestContext, SubmissionResult
from portal.people.student_profile import profile
from portal.registration import requests
from portal.registration.credits import hundredths
from portal.registration.limits import credit_limit, days_around, windows_of
from portal.registration.requests import Choice


def register(
    context: RequestContext, choices: Sequence[Choice], content: Sequence[Any] | None = None
) -> SubmissionResult:
    """Decide a submission in one step; the results keep the order of the choices.

    A choice of a section that is linked to another names both in one alternative, unless the
    other is held. `content` is the student's own request, if the catalog added to the choices.
    Raises KeyReused if the idempotency key was used for other content, NotAdmitted if the waiting
    room no longer admits the student, and RateLimited after too many requests.
    """
    student, catalog = profile(context.student), published_catalog(context.term)
    windows = [each.id for each in windows_of(student, context.term)]
    decided = backend().ledger.submit(
        context,
        credit_limit=hundredths(credit_limit(student, catalog)),
        windows=[each for each in windows if context.window in {None, each}],
        choices=[requests.for_ledger(each, student, catalog) for each in choices],
        order=[number + 1 for number in requests.decision_order(choices, catalog)],
        room=context.window if backend().settings.room else None,
        content=requests.idempotency_content(choices) if content is None else content,
    )
    enqueue(context.term, decided.wake)
    if not decided.replayed:
        for result in decided.results:
            refused = (each for alternative in result.refused for each in alternative)
            _count("claim", result.outcome, [why for each in refused for why in each.reasons])
    return decided


def claim(context: RequestContext, choice: Choice) -> list[Decision]:
    """Decide a single choice as `register` does; return the decision on each of its sections."""
    return register(context, [choice]).decisions


def drop(context: RequestContext, section: int, along: Sequence[int] = ()) -> Decision:
    """Drop a seat in one step, with the seats and waitlist positions in `along`.

    A seat that depends on another of them does not count as a drop of its own.
    Raises KeyReused and RateLimited.
    """
    student, zone = profile(context.student), backend().settings.zone
    decided = backend().ledger.drop(
        context,
        section,
        along,
        windows=[window.id for window in windows_of(student, context.term)],
        days=days_around(datetime.now(zone), zone),
        drop_limit=published_catalog(context.term).term.drops_per_day,
    )
    return _finish("drop", context.term, decided)


def leave_waitlist(context: RequestContext, section: int) -> Decision:
    """Leave a waitlist. Raises KeyReused and RateLimited."""
    return _finish("leave", context.term, backend().ledger.leave(context, section))


def _finish(act: str, term: int, decided: Decision) -> Decision:
    enqueue(term, decided.wake)
    if not decided.replayed:
        _count(act, decided.outcome, decided.reasons)
    return decided


def _count(act: str, outcome: Outcome, reasons: Sequence[Any]) -> None:
    """Count a decision for the metrics; a replayed answer is not counted again."""
    DECISIONS.labels(act, outcome.value).inc()
    if outcome is Outcome.REFUSED:
        for code in {each.code for each in reasons}:
            REFUSALS.labels(code).inc()
