"""API reads from the ledger, or from the read models while the ledger is unavailable.

A response from the read models says so: in its message, and in a header with the time of the last
recorded event. Decisions never use them.
"""

from collections.abc import Callable
from contextlib import suppress
from threading import Lock
from typing import Any, TypeVar

from cachetools import TTLCache, cached
from flask import Response, g

from portal.backend import backend
from portal.catalog.term_catalog import TermCatalog
from portal.core.cache import AWAY
from portal.core.i18n import _
from portal.ledger.errors import LedgerUnavailable
from portal.ledger.types import Registrations, SeatCounts, WindowView
from portal.people.student_profile import profile
from portal.recorder import read_with_fallback
from portal.registration import limits
from portal.web.api.blueprint import bp
from portal.web.http.access import visitor
from portal.web.student.student_term import StudentTerm
from portal.windows.cohorts import open_to
from portal.windows.phases import Phase, phase

RECORDED_AT = "Fairseat-Recorded-At"
HEADERS: dict[str, Any] = {
    RECORDED_AT: {
        "description": "Sent while the ledger is away: the answer is what was last recorded, and"
        " this is the time of the last event in it; `never` if there is none.",
        "schema": {"type": "string"},
    }
}
FRESH_SECONDS = 1
Found = TypeVar("Found")


def windows(term: int) -> list[WindowView]:
    """Return the windows of a term: all of them, or for a student those of their cohorts."""
    student, found = visitor().student_id, _all_windows(term)
    return open_to(profile(student), found) if student else found


def phase_of(term: int) -> Phase:
    """Return the visitor's phase in the windows of a term."""
    return phase(windows(term), read_with_fallback.now())


def all_seats(term: int) -> dict[int, SeatCounts]:
    """Return the counts of every section of a term, at most a second old."""
    return _read(term, _seats_of_term, read_with_fallback.seats)


def seats_of(term: int, sections: list[int]) -> dict[int, SeatCounts]:
    """Return the current counts of some sections."""
    _remember(term)
    return read_with_fallback.seats_of(term, sections)


def registrations(term: int, student: int) -> Registrations:
    """Return the enrollments and waitlist positions of a student."""
    _remember(term)
    return read_with_fallback.registrations(term, student)


def student_term(catalog: TermCatalog, student: int, mine: Registrations) -> StudentTerm:
    """Return a student's state in a term with these enrollments and waitlist positions."""
    term, who = catalog.term.id, profile(student)
    now = phase(open_to(who, _all_windows(term)), read_with_fallback.now())
    return StudentTerm(who, catalog, mine, now)


def note() -> str:
    """Return the message of a response from the read models; blank for any other."""
    if not read_with_fallback.recorded():
        return ""
    return _("The ledger does not respond. This is the last recorded state.")


def _all_windows(term: int) -> list[WindowView]:
    return _read(term, limits.windows, read_with_fallback.windows)


def _read(term: int, known: Callable[[int], Found], recorded: Callable[[int], Found]) -> Found:
    """Return what the ledger said a moment ago, or what was recorded while it is unavailable."""
    _remember(term)
    if not read_with_fallback.recorded():
        try:
            return known(term)
        except LedgerUnavailable:
            read_with_fallback.stop_waiting()
    return recorded(term)


@cached(TTLCache(maxsize=16, ttl=FRESH_SECONDS), lock=Lock())
def _seats_of_term(term: int) -> dict[int, SeatCounts]:
    return backend().ledger.seats(term)


def _remember(term: int) -> None:
    """Remember the terms that this request reads, for the header."""
    g.setdefault("terms_read", set()).add(term)


@bp.after_request
def _mark(response: Response) -> Response:
    if read_with_fallback.recorded() and response.status_code < 400:
        with suppress(*AWAY):
            at = read_with_fallback.recorded_at(g.get("terms_read", ()))
            response.headers[RECORDED_AT] = at.isoformat() if at else "never"
    return response
