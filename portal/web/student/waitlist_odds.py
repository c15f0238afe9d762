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


def waitlist_odds(scene: StudentTerm) -> dict[int, Odds]:
    """Return the odds of each waitlist position, by section; empty while no waitlist promotes."""
    window = scene.phase.window
    if scene.phase.kind != "open" or window is None:
        return {}
    seen, found = odds.known_freed_seats(scene.term.id), {}
    for position in scene.standing.waiting:
        card = scene.catalog.section(position.section)
        likely = odds.estimate(
            seen, position.section, position.position, now=scene.phase.now, ends=window.closes
        )
        basis = _basis(likely, card.capacity if card else 0)
        found[position.section] = Odds(_likelihood(likely), basis, likely.band)
    return found


def _likelihood(found: Estimate) -> str:
    if found.band == Band.EARLY:
        return _("It is too early to say how likely a seat is.")
    if found.band == Band.UNLIKELY:
        return _("A seat before selection ends is unlikely.")
    if found.band == Band.EVEN:
        return _("A seat before selection ends is about as likely as not.")
    return {
        1: _("A seat within the hour is likely."),
        24: _("A seat within a day is likely."),
        48: _("A seat within 2 days is likely."),
        168: _("A seat within a week is likely."),
    }.get(found.hours) or _("A seat before selection ends is likely.")


def _basis(found: Estimate, capacity: int) -> str:
    facts = {"seats": capacity, "days": found.days, "place": found.place}
    if found.band == Band.EARLY:
        return _("Few seats have come free in the term so far.")
    if not found.freed:
        return _prior(found)
    if found.freed > capacity:
        return _n(
            "%(num)s seat came free here lately, and you are number %(place)s in line.",
            "%(num)s seats came free here lately, and you are number %(place)s in line.",
            found.freed,
            **facts,
        )
    if found.days:
        return _n(
            "%(num)s of %(seats)s seats came free in the last %(days)s days,"
            " and you are number %(place)s in line.",
            "%(num)s of %(seats)s seats came free in the last %(days)s days,"
            " and you are number %(place)s in line.",
            found.freed,
            **facts,
        )
    return _n(
        "%(num)s of %(seats)s seats has come free so far, and you are number %(place)s in line.",
        "%(num)s of %(seats)s seats have come free so far, and you are number %(place)s in line.",
        found.freed,
        **facts,
    )


def _prior(found: Estimate) -> str:
    if found.one_in == 0:
        return _("No seat has come free here lately, and hardly any does across the term.")
    if found.one_in == 1:
        return _(
            "No seat has come free here lately, though across the term most do"
            " before selection ends."
        )
    return _(
        "No seat has come free here lately; across the term about 1 in %(many)s does"
        " before selection ends.",
        many=found.one_in,
    )
