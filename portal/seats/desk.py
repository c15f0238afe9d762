"""Where a student's wish becomes a question to the ledger, with all that it must be told."""

from dataclasses import dataclass
from datetime import datetime, time, timedelta
from decimal import Decimal
from threading import Lock
from zoneinfo import ZoneInfo

from cachetools import TTLCache, cached

from portal.backend import backend
from portal.catalog.board import Board, board
from portal.people.profile import Profile, profile
from portal.record.wake import wake
from portal.seats import rules
from portal.seats.answers import Answer, Outcome, Reason, WindowView
from portal.windows.phases import open_to

WINDOWS_FRESH_SECONDS = 1
HALF_A_DAY = timedelta(hours=12)


@dataclass(frozen=True)
class Asked:
    """Who asks, about which section, and the key by which the answer can be asked for again."""

    student: int
    term: int
    section: int
    request: str | None
    correlation: str


def claim(asked: Asked, *, credits: Decimal | None, wait: bool) -> Answer:  # noqa: A002
    """Ask for a seat, or with `wait` for a place in line; `credits` matter for ranges alone.

    Raises KeyReused where the request key stood for another wish.
    """
    who, offered = profile(asked.student), board(asked.term)
    card = offered.card(asked.section)
    if card is None:
        return _refused(Reason("section_unknown"))
    beyond = rules.unoffered(who, card, offered)
    answer = backend().ledger.claim(
        **vars(asked),
        credits=hundredths(card.credits_min if credits is None else credits),
        limit=hundredths(limit(who, offered)),
        windows=[window.id for window in windows_of(who, asked.term)],
        wait=wait,
        corequisites=None if beyond else rules.corequisites(who, card, offered),
        rules=[*rules.refusals(who, card), *beyond],
        actor=_actor(who),
    )
    return _told(asked, answer)


def drop(asked: Asked) -> Answer:
    """Give a seat up."""
    who = profile(asked.student)
    answer = backend().ledger.drop(
        **vars(asked),
        windows=[window.id for window in windows_of(who, asked.term)],
        days=days(datetime.now(backend().settings.zone), backend().settings.zone),
        drop_limit=board(asked.term).term.drops_per_day,
        actor=_actor(who),
    )
    return _told(asked, answer)


def leave(asked: Asked) -> Answer:
    """Give a place on a waitlist up."""
    answer = backend().ledger.leave(**vars(asked), actor=_actor(profile(asked.student)))
    return _told(asked, answer)


def windows_of(who: Profile, term: int) -> list[WindowView]:
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
    day = datetime.fromtimestamp(at / 1000, backend().settings.zone).date().isoformat()
    used = backend().ledger.drops(term, student).get(day, 0)
    return max(0, board(term).term.drops_per_day - used)


def limit(who: Profile, offered: Board) -> Decimal:
    """The most credits that the student may hold in a term."""
    return offered.term.credit_limit if who.credit_limit is None else who.credit_limit


def hundredths(credits: Decimal) -> int:  # noqa: A002
    """Credits as the ledger counts them."""
    return round(credits * 100)


def days(now: datetime, zone: ZoneInfo) -> list[tuple[int, str]]:
    """The starts (ms) and names of three days, so that the ledger finds the one it is in.

    They are chosen to fit a ledger whose clock is up to half a day off `now`.
    """
    first = (now.astimezone(zone) - HALF_A_DAY).date()
    around = [first + timedelta(days=number) for number in range(3)]
    starts = [datetime.combine(day, time.min, zone).timestamp() for day in around]
    return [(round(at * 1000), day.isoformat()) for at, day in zip(starts, around, strict=True)]


def _told(asked: Asked, answer: Answer) -> Answer:
    if answer.wake:
        wake(asked.term, answer.wake)
    return answer


def _refused(reason: Reason) -> Answer:
    return Answer(Outcome.REFUSED, at=backend().ledger.now(), reasons=(reason,))


def _actor(who: Profile) -> str:
    return f"account:{who.account}"
