"""Whom a change of a section affects, in sentences, before it is made."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from sqlalchemy.orm import Session

from portal.admin import affected
from portal.backend import backend
from portal.catalog import cohort_names, linked_courses, requisites
from portal.catalog.section_fields import SectionDetails
from portal.catalog.sections import StoredSection
from portal.core.i18n import _, _n
from portal.registration.seat_counts import (
    is_active,
    outlook_in_words,
    reserved_left,
    waitlist_outlook,
)
from portal.windows import cohorts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from portal.catalog.term_catalog import TermCatalog
    from portal.ledger.types import SeatCounts

HARDER = ("prerequisites", "corequisites", "restrictions")


@dataclass(frozen=True)
class Part:
    """How many have a part in a section, by the ledger; `prior` came with the import, unnamed."""

    taken: int
    waiting: int
    prior: int
    held: Mapping[int, int] = field(default_factory=dict)  # seats under its reserves, by reserve
    seats: "SeatCounts | None" = None

    @property
    def anyone(self) -> bool:
        """Whether somebody whom we know has a seat or a place."""
        return self.taken > self.prior or self.waiting > 0


def seats_of(stored: StoredSection) -> "SeatCounts | None":
    """Its counts, None where the ledger has not heard of it."""
    return backend().ledger.seats_of(stored.term_id, [stored.id]).get(stored.id)


def part(stored: StoredSection, seats: "SeatCounts | None") -> Part:
    """Who has a part in it now; nobody where the ledger has not heard of it."""
    if seats is None:
        return Part(0, 0, stored.prior)
    held = backend().ledger.reserved(stored.term_id, stored.id) if stored.details.reserves else {}
    return Part(seats.taken, seats.waiting, stored.prior, held, seats)


def impact(
    session: Session,
    stored: StoredSection,
    wanted: SectionDetails,
    now: Part,
    offered: "TermCatalog",
) -> list[str]:
    """What the change will mean, and for how many."""
    if stored.status == "NEW":
        return [_("It is a draft, so no student sees any of this.")]
    said = [*_whom(now), *_seats(stored, wanted, now), *_waitlist(stored, wanted, now)]
    said += _kept(session, stored, wanted, now)
    if stored.details.meetings != wanted.meetings and now.taken:
        said += _times(clashing(session, stored, wanted, offered))
    if any(getattr(stored.details, name) != getattr(wanted, name) for name in HARDER):
        said.append(
            _(
                "Who may take it is asked anew of everyone who picks it or comes up on its"
                " waitlist from now on; seats that are held stay held."
            )
        )
    said += _linked(stored, wanted, offered)
    if stored.details.credits != wanted.credits and now.taken:
        said.append(_("Seats that are held keep the credits that they were taken for."))
    return said


def _linked(stored: StoredSection, wanted: SectionDetails, offered: "TermCatalog") -> Iterator[str]:
    """That courses come to be taken together, as each of them names the other from now on."""
    card = offered.section(stored.id)
    if card is None:
        return
    then = replace(card, corequisites=wanted.corequisites)
    new = set(linked_courses.courses(then, offered)) - set(linked_courses.courses(card, offered))
    codes = sorted(code for each in new if (code := offered.course_code(each)))
    if codes:
        yield _(
            "It becomes linked with %(courses)s, as each names the other: students pick, plan and"
            " cancel them together.",
            courses=requisites.all_of([requisites.shown(code) for code in codes]),
        )


def takes(stored: StoredSection, wanted: SectionDetails, now: Part) -> bool:
    """Whether the change takes something from students, so that it needs a reason."""
    old = stored.details
    if stored.status == "NEW":
        return False
    less = wanted.capacity < old.capacity or wanted.waitlist < old.waitlist
    harder = any(
        getattr(wanted, name) and getattr(wanted, name) != getattr(old, name) for name in HARDER
    )
    other = bool(now.taken or now.waiting) and (
        wanted.meetings != old.meetings or wanted.credits != old.credits
    )
    return less or harder or other or wanted.reserves != old.reserves


def _whom(now: Part) -> Iterator[str]:
    if not (now.taken or now.waiting):
        yield _("Nobody has a seat in it or waits for one.")
        return
    seats = _n("%(num)s seat is taken", "%(num)s seats are taken", now.taken)
    waiting = _n("%(num)s student waits", "%(num)s students wait", now.waiting)
    yield _("%(seats)s, %(waiting)s.", seats=seats, waiting=waiting)


def _seats(stored: StoredSection, wanted: SectionDetails, now: Part) -> Iterator[str]:
    old, new = stored.details.capacity, wanted.capacity
    if new < now.taken and new != old:
        yield _n(
            "That is %(num)s seat fewer than are taken. Nobody is thrown out; a seat is given"
            " again only once enough have been given up.",
            "That is %(num)s seats fewer than are taken. Nobody is thrown out; a seat is given"
            " again only once enough have been given up.",
            now.taken - new,
        )
    if now.seats and (new > old or wanted.reserves != stored.details.reserves):
        left = reserved_left(wanted.reserves, now.held)
        yield from outlook_in_words(waitlist_outlook(replace(now.seats, capacity=new, kept=left)))


def _kept(
    session: Session, stored: StoredSection, wanted: SectionDetails, now: Part
) -> Iterator[str]:
    if wanted.reserves == stored.details.reserves:
        return
    lasting = [each for each in wanted.reserves if is_active(each)]
    for each in lasting:
        number = cohorts.count_students(session, dict(each.cohort))
        yield _n(
            "%(whom)s: that is %(num)s student.",
            "%(whom)s: those are %(num)s students.",
            number,
            whom=cohort_names.describe(each.cohort),
        )
    free = max(0, wanted.capacity - now.taken)
    closed = min(free, reserved_left(lasting, now.held))
    yield _n(
        "Of %(num)s free seat, %(kept)s will be kept and %(open)s open to everyone.",
        "Of %(num)s free seats, %(kept)s will be kept and %(open)s open to everyone.",
        free,
        kept=closed,
        open=free - closed,
    )
    yield _("Nobody loses a seat by it. Everyone in line is asked again, in their order.")


def _waitlist(stored: StoredSection, wanted: SectionDetails, now: Part) -> Iterator[str]:
    if wanted.waitlist < now.waiting and wanted.waitlist != stored.details.waitlist:
        yield _("Everyone who waits keeps the place; nobody can join until the line is shorter.")


def clashing(
    session: Session, stored: StoredSection, wanted: SectionDetails, offered: "TermCatalog"
) -> list[affected.Person]:
    """Those with a seat whose other sections clash with the new times and did not before."""
    if stored.details.meetings == wanted.meetings:
        return []
    before = affected.clashing(session, stored.id, offered, stored.details.meetings)
    known = {(person.id, clash) for person in before for clash in person.clashes}
    after = affected.clashing(session, stored.id, offered, wanted.meetings)
    return [each for each in after if {(each.id, clash) for clash in each.clashes} - known]


def _times(troubled: "Sequence[affected.Person]") -> Iterator[str]:
    if troubled:
        yield _n(
            "For %(num)s student with a seat the new times clash with another section of theirs."
            " The seat stays theirs.",
            "For %(num)s students with a seat the new times clash with another section of"
            " theirs. The seats stay theirs.",
            len(troubled),
        )
    else:
        yield _("The new times clash with no other section of those who have a seat.")
