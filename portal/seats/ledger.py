"""The ledger's Python face: every decision is one call, atomic and already journaled.

Credits are hundredths, times are ms since 1970 by the ledger's clock.
"""

from collections.abc import Sequence
from typing import Any

from redis import Redis

from portal.seats import replies
from portal.seats.answers import (
    Answer,
    Change,
    Held,
    LineAnswer,
    Outcome,
    Promotion,
    Reason,
    Seats,
    Standing,
    Submission,
    Waiting,
    WindowView,
)
from portal.seats.asks import (
    Candidate,
    Line,
    Meeting,
    Part,
    Passes,
    SectionSpec,
    as_payload,
    content,
)
from portal.seats.errors import (
    KeyReused,
    LedgerBehind,
    LedgerSilent,
    LedgerUnavailable,
    NotAdmitted,
    WindowRefused,
)
from portal.seats.ledger_by_hand import LedgerByHand
from portal.seats.ledger_sections import LedgerSections
from portal.seats.ledger_windows import LedgerWindows
from portal.seats.library import Library, prefix, reached

__all__ = [
    "Answer",
    "Candidate",
    "Change",
    "Held",
    "KeyReused",
    "Ledger",
    "LedgerBehind",
    "LedgerSilent",
    "LedgerUnavailable",
    "Line",
    "LineAnswer",
    "Meeting",
    "NotAdmitted",
    "Outcome",
    "Part",
    "Passes",
    "Promotion",
    "Reason",
    "Seats",
    "SectionSpec",
    "Standing",
    "Submission",
    "Waiting",
    "WindowRefused",
    "WindowView",
    "prefix",
]


class Ledger(LedgerByHand, LedgerSections, LedgerWindows):
    """Decides who gets a seat; raises LedgerUnavailable where it can't be asked.

    It is a LedgerSilent where a decision may have been made all the same.
    """

    def __init__(self, redis: Redis, replicas: int = 0) -> None:
        self.redis = redis
        self.library = Library(redis, replicas=replicas)

    # Selections

    def submit(
        self,
        term: int,
        *,
        student: int,
        request: str | None,
        limit: int,
        windows: Sequence[int],
        lines: Sequence[Line],
        actor: str,
        correlation: str,
        room: int | None = None,
        asked: Sequence[Any] | None = None,
        order: Sequence[int] | None = None,
    ) -> Submission:
        """Decide several wishes in one step; `limit` is in hundredths.

        They are decided in `order` (numbers from 1), else as they stand; the answers stand as the
        lines do. `room` is the window whose waiting room must let the student in; else raises
        NotAdmitted. `asked` is what the student asked for, without what the portal filled in: a
        replay must match it. By default it is the lines. Raises KeyReused if the key stood for
        something else.
        """
        payload = {
            "student": student,
            "request": request,
            "limit": limit,
            "windows": windows,
            "lines": [as_payload(line) for line in lines],
            "asked": content(lines) if asked is None else asked,
            "order": order,
            "actor": actor,
            "correlation": correlation,
            "room": room,
        }
        return replies.submission(self.library.ask("submit", term, payload, again=bool(request)))

    def claim(
        self,
        term: int,
        *,
        section: int,
        credits: int,  # noqa: A002  the field's word
        wait: bool,
        corequisites: dict[str, Any] | None = None,
        rules: Sequence[Reason] = (),
        waived: Sequence[str] = (),
        reserves: Sequence[int] = (),
        instead: int | None = None,
        **asked: Any,
    ) -> Answer:
        """Submit the wish for one section; `asked` is the rest of what `submit` is told."""
        part = Part(section, credits, corequisites, tuple(rules), tuple(waived), tuple(reserves))
        submission = self.submit(term, lines=[Line(((part,),), wait, instead)], **asked)
        return replies.only(submission)

    def drop(
        self,
        term: int,
        *,
        student: int,
        section: int,
        along: Sequence[int] = (),
        request: str | None,
        windows: Sequence[int],
        days: Sequence[tuple[int, str]],
        drop_limit: int,
        actor: str,
        correlation: str,
    ) -> Answer:
        """Give a seat up, and what `along` names with it, in one step.

        A seat that can't be held without another of them is no drop of the day of its own.

        `days` are the starts (ms) and names of the days around now.
        """
        payload = {
            "student": student,
            "section": section,
            "along": along or None,
            "request": request,
            "windows": windows,
            "days": days,
            "drop_limit": drop_limit,
            "actor": actor,
            "correlation": correlation,
        }
        return replies.answer(self.library.ask("drop", term, payload, again=bool(request)))

    def leave(
        self,
        term: int,
        *,
        student: int,
        section: int,
        request: str | None,
        actor: str,
        correlation: str,
    ) -> Answer:
        """Leave a waitlist; needs no open window."""
        payload = {
            "student": student,
            "section": section,
            "request": request,
            "actor": actor,
            "correlation": correlation,
        }
        return replies.answer(self.library.ask("leave", term, payload, again=bool(request)))

    def standing(self, term: int, student: int) -> Standing:
        """What a student holds and waits for, with positions."""
        return replies.standing(self.library.read("standing", term, {"student": student}))

    def drops(self, term: int, student: int) -> dict[str, int]:
        """How many seats a student has given up, by day."""
        with reached():
            return replies.drops(self.redis.hgetall(f"{prefix(term)}:drops:{student}"))

    # The clock and the calling of workers

    def now(self) -> int:
        """The ledger's time in ms."""
        with reached():
            seconds, micros = self.redis.time()
        return int(seconds) * 1000 + int(micros) // 1000

    def clear_woken(self, term: int, worker: str) -> None:
        """Note that a worker has begun, so that the next decision calls it again."""
        with reached():
            self.redis.hdel(f"{prefix(term)}:woken", worker)
