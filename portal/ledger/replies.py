"""The ledger's JSON replies as Python values."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from portal.ledger.errors import (
    KeyReused,
    LedgerBehind,
    NotAdmitted,
    RateLimited,
    WindowRefused,
)
from portal.ledger.types import (
    COUNTS,
    Change,
    ChoiceResult,
    Decision,
    HeldSeat,
    Outcome,
    Promotion,
    Reason,
    Registrations,
    RoundAnswer,
    SeatCounts,
    StudentState,
    SubmissionResult,
    WaitlistPosition,
    WindowView,
)

Reply = dict[str, Any]
UNASKED = COUNTS.index("unasked")


def submission(reply: Reply) -> SubmissionResult:
    """Return the decision on a submission; raise KeyReused, NotAdmitted or RateLimited."""
    _raise_error(reply)
    wake, replayed = tuple(reply.get("wake", ())), reply.get("replayed", False)
    results = tuple(_result(each) for each in reply["results"])
    return SubmissionResult(reply["at"], results, replayed, wake, _registrations(reply))


def _result(reply: Reply) -> ChoiceResult:
    taken = tuple(answer(each) for each in reply.get("taken") or ())
    refused = tuple(
        tuple(answer(each) for each in alternative) for alternative in reply["refused"] or ()
    )
    return ChoiceResult(Outcome(reply["outcome"]), reply["rank"], taken, refused)


def answer(reply: Reply) -> Decision:
    """Return a single decision; raise KeyReused or RateLimited."""
    _raise_error(reply)
    counts = reply.get("seats")
    return Decision(
        outcome=Outcome(reply["outcome"]),
        at=reply["at"],
        seq=reply.get("seq", 0),
        section=reply["section"],
        registration=reply.get("registration", 0),
        position=reply.get("position", 0),
        reasons=reasons(reply.get("reasons")),
        seats=_seats(reply["section"], counts) if counts else None,
        replayed=reply.get("replayed", False),
        wake=tuple(reply.get("wake", ())),
        swap_out=reply.get("given_up", 0),
        left=tuple(reply.get("left", ())),
        registrations=_registrations(reply),
    )


def batch(reply: Reply) -> list[Decision]:
    """Return the decisions on a batch of adjustments, one for each; raise KeyReused."""
    _raise_error(reply)
    wake = tuple(reply.get("wake", ()))
    return [replace(answer(each), wake=wake) for each in reply["answers"]]


def allocated(reply: Reply) -> list[RoundAnswer]:
    """Return what came of the moves of an allocation round, one answer for each."""
    wake = tuple(reply.get("wake", ()))
    return [
        RoundAnswer(
            Outcome(each["outcome"]),
            {one["section"]: reasons(one["reasons"]) for one in each.get("against") or ()},
            wake,
        )
        for each in reply["answers"]
    ]


def _raise_error(reply: Reply) -> None:
    match reply.get("error"):
        case None:
            return
        case "not_admitted":
            raise NotAdmitted
        case "rate_limited":
            raise RateLimited(reply["wait"])
        case error:
            raise KeyReused(error)


def reasons(rows: list[Reply] | None) -> tuple[Reason, ...]:
    """Return the reasons in the ledger's order."""
    return tuple(Reason(row["code"], row["facts"]) for row in rows or ())


def change(reply: Reply) -> Change:
    """Return a change to a section or window; raise LedgerBehind or WindowRefused."""
    if reply.get("error") == "behind":
        raise LedgerBehind
    if "error" in reply:
        raise WindowRefused(reply["error"], reply["at"])
    return Change(
        reply["at"], reply.get("seq", 0), tuple(reply.get("wake", ())), reply.get("more", False)
    )


def promotion(reply: Reply) -> Promotion:
    return Promotion(
        promoted=tuple(reply.get("promoted") or ()),
        skipped=tuple(reply.get("passed") or ()),
        more=reply["more"],
        wake=tuple(reply.get("wake", ())),
        aside=tuple(reply.get("aside") or ()),
    )


def registrations(reply: Reply) -> Registrations:
    """Return a student's seats and waitlist positions."""
    return Registrations(
        enrolled=tuple(HeldSeat(*row) for row in reply["enrolled"] or ()),
        waiting=tuple(_waiting(row) for row in reply["waiting"] or ()),
    )


def student_state(reply: Reply, sections: Sequence[int]) -> StudentState:
    """Return the state of a student, and the counts of those sections that the ledger knows."""
    counts = zip(sections, reply.get("seats") or (), strict=True)
    found = {section: _parsed(section, row) for section, row in counts if row}
    return StudentState(registrations(reply), reply["at"], reply["plan"], found)


@lru_cache(maxsize=20_000)
def _parsed(section: int, counts: str) -> SeatCounts:
    """Return counts as stored; most are the same in the next reply."""
    return _seats(section, json.loads(counts))


def _registrations(reply: Reply) -> Registrations | None:
    return registrations(reply["registrations"]) if "registrations" in reply else None


def _waiting(row: list[Any]) -> WaitlistPosition:
    section, worth, ticket, at, position, size, skips, *more = row
    return WaitlistPosition(section, worth, ticket, at, position, size, reasons(skips), *more)


def seats(stored: Mapping[Any, Any]) -> dict[int, SeatCounts]:
    """Return counts by section, of those that exist; parsed at once, as there are thousands."""
    known = {int(section): counts for section, counts in stored.items() if counts}
    rows = json.loads(b"[" + b",".join(known.values()) + b"]")
    return {section: _seats(section, row) for section, row in zip(known, rows, strict=True)}


def _seats(section: int, row: list[Any]) -> SeatCounts:
    more = {"unasked": row[UNASKED]} if len(row) > UNASKED else {}
    return SeatCounts(section, *row[:UNASKED], *row[UNASKED + 1 :], **more)


def drops(stored: Mapping[Any, Any]) -> dict[str, int]:
    """Return drops by day."""
    return {day.decode(): int(number) for day, number in stored.items()}


def windows(stored: Mapping[Any, Any]) -> list[WindowView]:
    """Return windows by opening, then by number."""
    views = [window(int(key), json.loads(value)) for key, value in stored.items()]
    return sorted(views, key=lambda view: (view.opens, view.id))


def window(number: int, row: Reply) -> WindowView:
    return WindowView(number, row["name"], row["opens"], row["closes"], row["state"], row["cohort"])
