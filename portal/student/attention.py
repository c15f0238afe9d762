"""What a student has to see to: holds on the record, and sections that meet at the same time."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from markupsafe import Markup

from portal.backend import backend
from portal.catalog.local_time import LocalClock
from portal.catalog.time_conflicts import pair_in_words, pairs
from portal.catalog.views import SectionView
from portal.core.i18n import _
from portal.core.moments import milliseconds
from portal.people.student_profile import HoldView, StudentProfile
from portal.registration import reasons, rules
from portal.student.drawing import drawn


@dataclass(frozen=True)
class Attention:
    """Holds that stand or are to come, and two sections each that clash."""

    holds: tuple[HoldView, ...]
    clashes: tuple[tuple[SectionView, SectionView], ...]

    @property
    def mark(self) -> object:
        """Tells one from another; it changes also when a hold begins."""
        holds = [(hold, hold.stands) for hold in self.holds]
        meetings = [(one.id, one.meetings, other.id, other.meetings) for one, other in self.clashes]
        return holds, meetings


def attention(who: StudentProfile, held: Iterable[SectionView]) -> Attention:
    """What there is to see to for a student who holds these sections."""
    running = [card for card in held if card.status != "CANCELED"]
    clashing = [pair for pair in pairs(running) if not _permitted(who, *pair)]
    return Attention(tuple(hold for hold in who.holds if not hold.over), tuple(clashing))


def shown(term: int, found: Attention) -> Markup:
    """The same for pages, id attention."""
    return drawn(
        "fragments/attention.html",
        term=term,
        holds=[(hold.stands, _hold(hold), _until(hold)) for hold in found.holds],
        clashes=[pair_in_words(*pair) for pair in found.clashes],
    )


def _permitted(who: StudentProfile, one: SectionView, other: SectionView) -> bool:
    """Whether the registrar permits the student one of them though it clashes."""
    return any("time_conflict" in rules.permitted(who, card) for card in (one, other))


def _hold(hold: HoldView) -> str:
    if hold.stands:
        return reasons.hold_text(hold.facts)
    facts = {"when": _when(hold.since), "reason": reasons.hold_reason(hold.facts)}
    office = hold.office or _("the registrar")
    return _(
        "From %(when)s on there is a hold on your record: %(reason)s. Please see %(office)s.",
        office=office,
        **facts,
    )


def _until(hold: HoldView) -> str:
    if not hold.until:
        return ""
    last = hold.until - timedelta(seconds=1)  # midnight is another day
    return _("It ends %(when)s.", when=_when(last))


def _when(moment: datetime | None) -> str:
    return LocalClock(backend().settings.zone).full(milliseconds(moment)) if moment else ""
