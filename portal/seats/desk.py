"""Where a student's wish becomes a question to the ledger, with all that it must be told.

What the rules need to know comes from caches: a decision waits for no query of its own.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from decimal import Decimal
from threading import Lock
from typing import Any
from zoneinfo import ZoneInfo

from cachetools import TTLCache, cached

from portal.backend import backend
from portal.catalog.term_catalog import TermCatalog, catalog_of
from portal.ledger import replies
from portal.ledger.types import Decision, SubmissionResult, WindowView
from portal.people.student_profile import StudentProfile, profile
from portal.recorder.wake import wake
from portal.seats import counted, wishes
from portal.seats.wishes import Wanted, Wish, hundredths
from portal.windows.phases import open_to

__all__ = ["Asked", "Asker", "Wanted", "Wish", "claim", "drop", "hundredths", "leave", "submit"]

WINDOWS_FRESH_SECONDS = 1
HALF_A_DAY = timedelta(hours=12)


@dataclass(frozen=True)
class Asker:
    """Who asks, and the key by which the answer can be asked for again."""

    student: int
    term: int
    request: str | None
    correlation: str
    window: int | None = None  # of the access token; None = any window of the student's


@dataclass(frozen=True)
class Asked:
    """Who asks about which section, under which key."""

    student: int
    term: int
    section: int
    request: str | None
    correlation: str

    @property
    def asker(self) -> Asker:
        return Asker(self.student, self.term, self.request, self.correlation)


def submit(
    asker: Asker, wished: Sequence[Wish], content: Sequence[Any] | None = None
) -> SubmissionResult:
    """Decide several wishes in one step; the answers are in the order of the wishes.

    A wish for a section that is linked to another (see linked.py) names both in one option, unless
    the other is held. Each part of each answer has its section, reasons and receipt (`seq`).
    `content` is what the student asked for, where `wished` was made of it by the catalog.
    Raises KeyReused where the idempotency key stood for other content, and NotAdmitted where the
    access token's waiting room no longer lets the student in.
    """
    who, offered = profile(asker.student), catalog_of(asker.term)
    decided = backend().ledger.submit(
        asker.term,
        student=asker.student,
        request=asker.request,
        correlation=asker.correlation,
        limit=hundredths(limit(who, offered)),
        windows=[
            window.id for window in windows_of(who, asker.term) if asker.window in {None, window.id}
        ],
        lines=[wishes.line(each, who, offered) for each in wished],
        order=[number + 1 for number in wishes.in_order(wished, offered)],
        actor=_actor(who),
        room=asker.window if backend().settings.room else None,
        asked=wishes.content(wished) if content is None else content,
    )
    wake(asker.term, decided.wake)
    counted.submission(decided)
    return decided


def claim(
    asked: Asked,
    *,
    credits: Decimal | None,  # noqa: A002  the field's word
    wait: bool,
    instead: int | None = None,
) -> Decision:
    """Ask for one seat, or with `wait` for a place in line: a `submit` of that wish alone."""
    wish = Wish([[Wanted(asked.section, credits)]], wait, instead)
    return replies.only(submit(asked.asker, [wish]))


def drop(asked: Asked, along: Sequence[int] = ()) -> Decision:
    """Give a seat up, and what `along` names with it, in one step.

    The ledger decides how many drops of the day that is: a seat that can't be held without another
    of them is none. A waitlist that `along` names is left.
    """
    who = profile(asked.student)
    answer = backend().ledger.drop(
        **vars(asked),
        along=along,
        windows=[window.id for window in windows_of(who, asked.term)],
        days=days(datetime.now(backend().settings.zone), backend().settings.zone),
        drop_limit=catalog_of(asked.term).term.drops_per_day,
        actor=_actor(who),
    )
    wake(asked.term, answer.wake)
    counted.answer("drop", answer)
    return answer


def leave(asked: Asked) -> Decision:
    """Give a place on a waitlist up."""
    answer = backend().ledger.leave(**vars(asked), actor=_actor(profile(asked.student)))
    wake(asked.term, answer.wake)
    counted.answer("leave", answer)
    return answer


def windows_of(who: StudentProfile, term: int) -> list[WindowView]:
    """The windows of a term for the student's cohorts, at most a second old."""
    return open_to(who, windows(term))


@cached(TTLCache(maxsize=64, ttl=WINDOWS_FRESH_SECONDS), lock=Lock())
def windows(term: int) -> list[WindowView]:
    """All windows of a term, at most a second old; the ledger decides by its own."""
    return backend().ledger.windows(term)


def forget_windows() -> None:
    """Read the windows anew when they are next asked for."""
    windows.cache_clear()


def drops_left(student: int, term: int, at: int) -> int:
    """How many seats the student may still give up on the day of `at`, the ledger's time in ms."""
    return left(backend().ledger.drops(term, student), term, at)


def left(drops: Mapping[str, int], term: int, at: int) -> int:
    """The same, after so many by day."""
    day = datetime.fromtimestamp(at / 1000, backend().settings.zone).date().isoformat()
    return max(0, catalog_of(term).term.drops_per_day - drops.get(day, 0))


def limit(who: StudentProfile, offered: TermCatalog) -> Decimal:
    """The most credits that the student may hold in a term."""
    return offered.term.credit_limit if who.credit_limit is None else who.credit_limit


def days(now: datetime, zone: ZoneInfo) -> list[tuple[int, str]]:
    """The starts (ms) and names of three days, so that the ledger finds the one it is in.

    They are chosen to fit a ledger whose clock is up to half a day off `now`.
    """
    first = (now.astimezone(zone) - HALF_A_DAY).date()
    around = [first + timedelta(days=number) for number in range(3)]
    starts = [datetime.combine(day, time.min, zone).timestamp() for day in around]
    return [(round(at * 1000), day.isoformat()) for at, day in zip(starts, around, strict=True)]


def _actor(who: StudentProfile) -> str:
    return f"account:{who.account}"
