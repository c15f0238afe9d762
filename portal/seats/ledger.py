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
from portal.seats.asks import Candidate, Line, Meeting, Part, Passes, SectionSpec, as_payload
from portal.seats.errors import (
    KeyReused,
    LedgerBehind,
    LedgerSilent,
    LedgerUnavailable,
    NotAdmitted,
    Overtaken,
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
    "Overtaken",
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
        flight: str | None = None,
    ) -> Submission:
        """Decide several wishes in one step, in their order; `limit` is in hundredths.

        `room` is the window whose waiting room must let the student in; else raises NotAdmitted.
        Raises KeyReused if the request key stood for other wishes, Overtaken where another request
        than `flight` is the one that may be decided under it.
        """
        payload = {
            "student": student,
            "request": request,
            "limit": limit,
            "windows": windows,
            "lines": [as_payload(line) for line in lines],
            "actor": actor,
            "correlation": correlation,
            "room": room,
            "flight": flight,
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
        flight: str | None = None,
    ) -> Answer:
        """Give a seat up, and those of `along` with it: together one drop of the day.

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
            "flight": flight,
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
        flight: str | None = None,
    ) -> Answer:
        """Leave a waitlist; needs no open window."""
        payload = {
            "student": student,
            "section": section,
            "request": request,
            "actor": actor,
            "correlation": correlation,
            "flight": flight,
        }
        return replies.answer(self.library.ask("leave", term, payload, again=bool(request)))

    def take_off(self, term: int, student: int, request: str, flight: str, lasts: int) -> None:
        """Begin to decide the request under a key, of which there may be several, under `flight`.

        No other is begun for so many ms, unless it is decided or `land`s before; raises Overtaken.
        """
        payload = {"student": student, "request": request, "flight": flight, "lasts": lasts}
        if "error" in self.library.note("take_off", term, payload):
            raise Overtaken

    def land(self, term: int, student: int, request: str, flight: str) -> None:
        """Let another be begun, where this one was not decided."""
        payload = {"student": student, "request": request, "flight": flight}
        self.library.note("land", term, payload)

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
