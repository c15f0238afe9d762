"""What students were told, counted for whoever watches."""

from portal.core.metrics import DECISIONS, REFUSALS
from portal.ledger.types import Decision, Outcome, SubmissionResult


def submission(decided: SubmissionResult) -> None:
    """Count the outcome of each wish; an answer that is given again counts no more."""
    if decided.replayed:
        return
    for line in decided.lines:
        refused = (part for option in line.refused for part in option)
        _count("claim", line.outcome, {reason.code for part in refused for reason in part.reasons})


def answer(act: str, told: Decision) -> None:
    """Count a drop, or that a place was left."""
    if not told.replayed:
        _count(act, told.outcome, {reason.code for reason in told.reasons})


def _count(act: str, outcome: Outcome, reasons: set[str]) -> None:
    DECISIONS.labels(act, outcome.value).inc()
    if outcome is Outcome.REFUSED:
        for reason in reasons:
            REFUSALS.labels(reason).inc()
