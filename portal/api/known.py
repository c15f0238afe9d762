"""What the API tells of seats and windows: by the ledger, or as recorded while it is away.

An answer from the record says so: by its message, and by a header with the time of the last
event that was recorded. Decisions never come from here.
"""

from contextlib import suppress
from threading import Lock

from cachetools import TTLCache, cached
from flask import Response, g

from portal.api.entry import bp
from portal.backend import backend
from portal.catalog.term_catalog import TermCatalog
from portal.core.cache import AWAY
from portal.core.i18n import _
from portal.ledger.errors import LedgerUnavailable
from portal.ledger.types import SeatCounts, Standing, WindowView
from portal.people.profile import profile
from portal.recorder import read_with_fallback
from portal.seats import desk
from portal.student.scene import Scene
from portal.web.http.access import visitor
from portal.windows.localtime import Clockface
from portal.windows.phases import Phase, open_to, phase

HEADER = "Fairseat-Recorded-At"
FRESH_SECONDS = 1


def windows(term: int) -> list[WindowView]:
    """The windows of a term: to a student those that are for them."""
    student, found = visitor().student_id, _all_windows(term)
    return open_to(profile(student), found) if student else found


def phase_of(term: int) -> Phase:
    """Which of the four answers about windows is true for the visitor."""
    return phase(windows(term), read_with_fallback.now())


def seats(term: int) -> dict[int, SeatCounts]:
    """The counts of every section of a term, a second old at most."""
    _note(term)
    if not read_with_fallback.recorded():
        try:
            return _all_seats(term)
        except LedgerUnavailable:
            read_with_fallback.give_up()
    return read_with_fallback.seats(term)


def seats_of(term: int, sections: list[int]) -> dict[int, SeatCounts]:
    """The counts of some sections."""
    _note(term)
    return read_with_fallback.seats_of(term, sections)


def standing(term: int, student: int) -> Standing:
    """What a student holds and waits for."""
    _note(term)
    return read_with_fallback.standing(term, student)


def scene(offered: TermCatalog, student: int, mine: Standing | None = None) -> Scene:
    """Where a student stands in a term; `mine` where that is known already."""
    term, who = offered.term.id, profile(student)
    return Scene(
        profile=who,
        catalog=offered,
        standing=standing(term, student) if mine is None else mine,
        phase=phase(open_to(who, _all_windows(term)), read_with_fallback.now()),
        times=Clockface(backend().settings.zone),
    )


def note() -> str:
    """The message of an answer: that it is of before, if it is."""
    if not read_with_fallback.recorded():
        return ""
    return _("The ledger can't be asked now: this is what was last recorded.")


def _all_windows(term: int) -> list[WindowView]:
    _note(term)
    if not read_with_fallback.recorded():
        try:
            return desk.windows(term)
        except LedgerUnavailable:
            read_with_fallback.give_up()
    return read_with_fallback.windows(term)


@cached(TTLCache(maxsize=16, ttl=FRESH_SECONDS), lock=Lock())
def _all_seats(term: int) -> dict[int, SeatCounts]:
    return backend().ledger.seats(term)


def _note(term: int) -> None:
    """Remember of which terms this request tells."""
    g.setdefault("told_of", set()).add(term)


@bp.after_request
def _mark(response: Response) -> Response:
    if read_with_fallback.recorded() and response.status_code < 400:
        with suppress(*AWAY):
            at = read_with_fallback.recorded_at(g.get("told_of", ()))
            response.headers[HEADER] = at.isoformat() if at else "never"
    return response
