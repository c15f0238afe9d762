"""Sections that share seats, as a form names them; and what sharing means."""

from collections.abc import Iterator

from sqlalchemy import select
from sqlalchemy.orm import Session
from werkzeug.datastructures import MultiDict

from portal.admin.times import Reading
from portal.backend import backend
from portal.catalog import requisites
from portal.catalog.models import Course, Section, Term
from portal.catalog.seat_pools import Member, SeatPool
from portal.catalog.term_catalog import SectionView, TermCatalog
from portal.core.i18n import _, _n
from portal.registration.next_steps import section_name

NAME = 80  # characters
MOST_SEATS = 100_000
MOST = 20  # sections: what is taken of shared seats is added up from all of them

Form = MultiDict[str, str]


def names(offered: TermCatalog) -> list[str]:
    """The sections to choose from."""
    return [section_name(card) for card in offered.sections if card.status != "CANCELED"]


def read(
    session: Session, reading: Reading, form: Form, offered: TermCatalog, now: SeatPool
) -> SeatPool:
    """The shared seats that the form describes, what is wrong with it noted."""
    name = " ".join(form.get("name", "").replace("\0", "").split())
    if not name or len(name) > NAME:
        reading.wrong("name", _("Name: give one of at most %(most)s characters.", most=NAME))
    text = form.get("capacity", "").strip()
    seats = int(text) if text.isascii() and text.isdigit() and len(text) < 10 else -1
    if not 0 <= seats <= MOST_SEATS:
        most = f"{MOST_SEATS:,}"
        reading.wrong(
            "capacity", _("Shared seats: give a whole number from 0 to %(most)s.", most=most)
        )
    members = _members(session, reading, form, offered, now)
    if len(members) == 1 and not now.id:
        reading.wrong("section", _("Name another section: one alone shares its seats with nobody."))
    return SeatPool(now.id, now.version, name, seats, members)


def impact(now: SeatPool, wanted: SeatPool, term_id: int) -> list[str]:
    """What it will mean, and for how many."""
    counts = backend().ledger.seats_of(term_id, sorted(wanted.ids))
    taken = sum(each.taken for each in counts.values())
    if len(wanted.members) == 1 or not wanted.members:
        return [_("Each section has its own seats alone. Seats that are held stay held.")]
    said = [
        _n(
            "%(num)s seat is taken in these sections together.",
            "%(num)s seats are taken in these sections together.",
            taken,
        ),
        _("A seat is given where both the section and the shared seats have one left."),
    ]
    if wanted.capacity < taken:
        said.append(
            _n(
                "That is %(num)s seat fewer than are taken. Nobody is thrown out; a seat is given"
                " again only once enough have been given up.",
                "That is %(num)s seats fewer than are taken. Nobody is thrown out; a seat is given"
                " again only once enough have been given up.",
                taken - wanted.capacity,
            )
        )
    gone = [each.name for each in now.members if each.id not in wanted.ids]
    if gone:
        said.append(
            _("Out of it, with its own seats alone: %(names)s.", names=requisites.all_of(gone))
        )
    return said


def cautions(wanted: SeatPool, offered: TermCatalog) -> list[str]:
    """What an admin should know; nothing of it forbids anything."""
    return [said for card in offered.some(sorted(wanted.ids)) for said in _cautions(card, wanted)]


def _cautions(card: SectionView, wanted: SeatPool) -> Iterator[str]:
    if len(wanted.members) > 1 and card.status == "NEW":
        yield _("%(name)s is a draft: it takes part once it is published.", name=section_name(card))
    if len(wanted.members) > 1 and card.capacity < wanted.capacity:
        yield _n(
            "%(name)s has %(num)s seat of its own: no more than that of the shared ones go there.",
            "%(name)s has %(num)s seats of its own: no more than that of the shared ones go there.",
            card.capacity,
            name=section_name(card),
        )


def _members(
    session: Session, reading: Reading, form: Form, offered: TermCatalog, now: SeatPool
) -> tuple[Member, ...]:
    typed = [" ".join(each.replace("\0", "").split()) for each in form.getlist("section")]
    known = {
        key: card for card in offered.sections for key in (_key(section_name(card)), _key(card.crn))
    }
    found: dict[int, Member] = {}
    for text in filter(None, typed):
        card = known.get(_key(text))
        if card is None:
            reading.wrong("section", _nowhere(session, text[:60], offered))
        elif why := _obstacle(card, now):
            reading.wrong("section", why)
        else:
            found[card.id] = Member(card.id, section_name(card))
    if len(found) > MOST:
        reading.wrong("section", _("At most %(most)s sections share seats.", most=MOST))
    return tuple(sorted(found.values(), key=lambda each: (each.name, each.id)))


def _obstacle(card: SectionView, now: SeatPool) -> str:
    """Why a section can't come in; blank where nothing is against it, or it is in."""
    if card.id in now.ids and card.pool == (now.id or None):
        return ""
    if card.status == "CANCELED":
        return _("%(name)s has been canceled.", name=section_name(card))
    if card.pool:
        return _(
            "%(name)s shares its seats with others already. Take it out there first.",
            name=section_name(card),
        )
    return ""


def _nowhere(session: Session, text: str, offered: TermCatalog) -> str:
    """That this term has no such section, and which one has."""
    number = (text.replace("-", " ").split() or [text])[-1]
    found = (
        select(Course.code, Section.number, Section.crn, Term.name)
        .join(Course, Course.id == Section.course_id)
        .join(Term, Term.id == Section.term_id)
        .where(Section.term_id != offered.term.id, Section.deleted_at.is_(None))
        .where((Section.number == number) | (Section.crn == text))
        .order_by(Term.starts_on.desc())
    )
    for code, number, crn, term in session.execute(found):
        if _key(text) in {_key(f"{code}-{number}"), _key(crn)}:
            return _(
                "“%(name)s” is a section of %(term)s, and only sections of one term share seats.",
                name=text,
                term=term,
            )
    return _(
        "There is no section “%(name)s” in this term. Give its name as in the list, or its CRN.",
        name=text,
    )


def _key(name: str) -> str:
    return " ".join(name.upper().replace("-", " ").split())
