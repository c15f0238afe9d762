"""Chances of a seat from the waitlist, in words with their basis, no more precise than the data."""

from dataclasses import dataclass

from portal.core.i18n import _, _n
from portal.recorder import odds
from portal.recorder.odds import Band, Estimate
from portal.web.student.student_term import StudentTerm


@dataclass(frozen=True)
class Odds:
    """The odds in a sentence, and their basis in another."""

    text: str
    basis: str
    band: str


def waitlist_odds(student_term: StudentTerm) -> dict[int, Odds]:
    """Return the odds of each waitlist position, by section; empty while no waitlist promotes."""
    window = student_term.phase.window
    if student_term.no_adding or window is None:
        return {}
    ends = min(window.closes, student_term.deadlines.get("add_deadline", window.closes))
    seen, found = odds.known_freed_seats(student_term.term.id), {}
    for position in student_term.registrations.waiting:
        view = student_term.catalog.section(position.section)
        likely = odds.estimate(
            seen,
            position.section,
            position.position,
            now=student_term.phase.now,
            ends=ends,
        )
        basis = _basis(likely, view.capacity if view else 0)
        text = _likelihood(likely)
        if position.band > 1 and likely.band != Band.EARLY:
            text = " ".join(
                (text, _("Your chance gets smaller if students in an earlier group join."))
            )
        found[position.section] = Odds(text, basis, likely.band)
    return found


def _likelihood(found: Estimate) -> str:
    if found.band == Band.EARLY:
        return _("It is too early to say how likely you are to get a seat.")
    if found.band == Band.UNLIKELY:
        return _("You are unlikely to get a seat before registration ends.")
    if found.band == Band.EVEN:
        return _("Your chance of a seat before registration ends is about 1 in 2.")
    return {
        1: _("You will likely get a seat within an hour."),
        24: _("You will likely get a seat within a day."),
        48: _("You will likely get a seat within 2 days."),
        168: _("You will likely get a seat within a week."),
    }.get(found.hours) or _("You will likely get a seat before registration ends.")


def _basis(found: Estimate, capacity: int) -> str:
    facts = {"seats": capacity, "days": found.days, "place": found.position}
    if found.band == Band.EARLY:
        return _("Few seats have opened this term so far.")
    if not found.freed:
        return _prior(found)
    if found.freed > capacity:
        return _n(
            "%(num)s seat opened here recently, and you are number %(place)s on the waitlist.",
            "%(num)s seats opened here recently, and you are number %(place)s on the waitlist.",
            found.freed,
            **facts,
        )
    if found.days:
        return _n(
            "%(num)s of %(seats)s seats opened in the last %(days)s days, "
            "and you are number %(place)s on the waitlist.",
            "%(num)s of %(seats)s seats opened in the last %(days)s days, "
            "and you are number %(place)s on the waitlist.",
            found.freed,
            **facts,
        )
    return _n(
        "%(num)s of %(seats)s seats has opened so far, and you "
        "are number %(place)s on the waitlist.",
        "%(num)s of %(seats)s seats have opened so far, and you "
        "are number %(place)s on the waitlist.",
        found.freed,
        **facts,
    )


def _prior(found: Estimate) -> str:
    if found.one_in == 0:
        return _("No seat has opened here recently, and few open anywhere this term.")
    if found.one_in == 1:
        return _(
            "No seat has opened here recently, but most seats of "
            "this term open before registration ends."
        )
    return _(
        "No seat has opened here recently. This term, about 1 seat in %(many)s opens before"
        " registration ends.",
        many=found.one_in,
    )
