"""What a change of a section or of a seat pool means, or why it is refused, in sentences."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sqlalchemy.orm import Session

from portal.backend import backend
from portal.catalog import cohort_names, linked_courses, requisites, sections
from portal.catalog.seat_pools import SeatPool
from portal.catalog.section_fields import FIELDS, SectionDetails
from portal.catalog.sections import RUNNING, STATUS_CHANGES, StoredSection
from portal.catalog.term_catalog import TermCatalog
from portal.core.i18n import _, _l, _n
from portal.ledger.errors import LedgerUnavailable
from portal.ledger.types import SeatCounts
from portal.registration.seat_counts import (
    is_active,
    outlook_in_words,
    reserved_left,
    waitlist_outlook,
)
from portal.reports.effects import students
from portal.reports.effects.students import AffectedStudent
from portal.windows import cohorts
from portal.windows.warmup import send_sections

HARDER = {each.name for each in FIELDS.values() if each.part == "rules"}
OBSTACLES = {
    "NEW": _l("The section is a draft: publish it first, or delete it."),
    "OPEN": _l("The section is already open."),
    "CONFIRMED": _l("The section is already confirmed."),
    "CANCELED": _l("The section is canceled, so it can’t be changed."),
    "live": _l("Students can still register. Cancel the section before you delete it."),
    "deleted": _l("The section is deleted. Restore it first."),
    "incomplete": _l("Restore its course and its rooms first, in Catalog under Deleted."),
    "not_deleted": _l("The section is not deleted, so it can’t be restored."),
    "held": _l("Students are enrolled or on the waitlist, so the section can’t be deleted."),
    "leaving": _l(
        "Students are still being removed from the section and its waitlist. Try again in a moment."
    ),
    "in_use": _l("Students are enrolled or on the waitlist, so the section stays published."),
    "unknown": _l("This term has no such section."),
    "room_unknown": _l(
        "The catalog has no such room. Choose one from the list, or ask the registrar’s office."
    ),
    "crn_taken": _l("Another section of this term has this CRN. Choose another."),
    "course_deleted": _l("The course was deleted meanwhile. Choose another one, or restore it."),
    "pooled": _l("One of the sections already shares seats with others. Remove it there first."),
    "pool_name_taken": _l(
        "This term already has shared seats with this name. Choose another name."
    ),
    "untold": _l("The ledger does not respond, so we can’t check this. Try again in a moment."),
}


# The effects of changes of status, if no student is in the section.
MEANINGS = {
    "publish": (
        _l("Students can find it now and register while their window is open."),
        _l("Pages that are already open show it after a reload."),
    ),
    "unpublish": (
        _l("No one is enrolled or on the waitlist. Students no longer see the section."),
        _l("If a student registers at this moment, the section stays published."),
    ),
    "reoffer": (
        _l("The section becomes a draft. Check it, then publish it."),
        _l("Students who had a seat or a waitlist position don’t get it back."),
    ),
    "delete": (
        _l("It disappears from all lists. No one is enrolled or on the waitlist."),
        _l("Its history is kept, and you can restore it."),
    ),
}


@dataclass(frozen=True)
class Occupancy:
    """The number of students of a section in the ledger; `prior` were imported without names."""

    taken: int
    waiting: int
    prior: int
    seats: SeatCounts | None  # None if the ledger does not know the section

    @property
    def anyone(self) -> bool:
        """Return whether a student known by name has a seat or a waitlist position."""
        return self.taken > self.prior or self.waiting > 0


@dataclass(frozen=True)
class Effects:
    """What a change means to students, and whether it takes something so that it needs a reason."""

    sentences: list[str]
    needs_reason: bool = False
    clashing: list[AffectedStudent] = field(default_factory=list)  # by the new times


def occupancy(stored: StoredSection) -> Occupancy:
    """Return the section's current students."""
    seats = backend().ledger.seats_of(stored.term_id, [stored.id]).get(stored.id)
    if seats is None:
        return Occupancy(0, 0, stored.prior, None)
    return Occupancy(seats.taken, seats.waiting, stored.prior, seats)


def of_change(
    session: Session, stored: StoredSection, wanted: SectionDetails, offered: TermCatalog
) -> Effects:
    """Return the effects of the changed fields, and how many students each concerns."""
    if stored.status == "NEW":
        return Effects([_("This section is a draft. Students can’t see it.")])
    old, now = stored.details, occupancy(stored)
    changed = {name for name in FIELDS if getattr(old, name) != getattr(wanted, name)}
    known = now.seats and old.reserves
    held = backend().ledger.reserved(stored.term_id, stored.id) if known else {}
    sentences, clashing = [_people_affected(now)], []
    if "capacity" in changed:
        sentences += _too_few(now.taken - wanted.capacity)
    if now.seats and (wanted.capacity > old.capacity or "reserves" in changed):
        left = reserved_left(wanted.reserves, held)
        then = replace(now.seats, capacity=wanted.capacity, kept=left)
        sentences += outlook_in_words(waitlist_outlook(then))
    if "waitlist" in changed and wanted.waitlist < now.waiting:
        sentences.append(
            _(
                "Waiting students keep their positions. No one can join until the waitlist is"
                " shorter."
            )
        )
    if "reserves" in changed:
        sentences += _reserved(session, wanted, now, held)
    if "meetings" in changed:
        clashing = _clashing(session, stored, wanted, offered)
        sentences += [_new_times(len(clashing))] if now.taken else []
    if changed.intersection(HARDER):
        sentences.append(
            _(
                "The new rules apply to students who register or are promoted from now on."
                " Enrolled students keep their seats."
            )
        )
    sentences += _newly_linked(stored, wanted, offered)
    if "credits" in changed and now.taken:
        sentences.append(_("Enrolled students keep their current credits."))
    return Effects(sentences, _takes_something(changed, old, wanted, now), clashing)


def _takes_something(
    changed: set[str], old: SectionDetails, wanted: SectionDetails, now: Occupancy
) -> bool:
    """Return whether a change may take something from students."""
    return (
        "reserves" in changed
        or wanted.capacity < old.capacity
        or wanted.waitlist < old.waitlist
        or any(getattr(wanted, name) for name in changed.intersection(HARDER))
        or (bool(now.taken or now.waiting) and bool(changed & {"meetings", "credits"}))
    )


def _people_affected(now: Occupancy) -> str:
    if not (now.taken or now.waiting):
        return _("No one is enrolled or on the waitlist.")
    seats = _n("%(num)s seat taken", "%(num)s seats taken", now.taken)
    waiting = _n("%(num)s student on the waitlist", "%(num)s students on the waitlist", now.waiting)
    return _("%(seats)s, %(waiting)s.", seats=seats, waiting=waiting)


def _too_few(missing: int) -> list[str]:
    if missing <= 0:
        return []
    return [
        _n(
            "%(num)s seat will be over capacity. No one loses a seat. Freed seats"
            " are assigned again once the section is below capacity.",
            "%(num)s seats will be over capacity. No one loses a seat. Freed seats"
            " are assigned again once the section is below capacity.",
            missing,
        )
    ]


def _reserved(
    session: Session, wanted: SectionDetails, now: Occupancy, held: Mapping[int, int]
) -> Iterator[str]:
    lasting = [each for each in wanted.reserves if is_active(each)]
    for each in lasting:
        yield _n(
            "%(whom)s: %(num)s student.",
            "%(whom)s: %(num)s students.",
            cohorts.count_students(session, dict(each.cohort)),
            whom=cohort_names.describe(each.cohort),
        )
    free = max(0, wanted.capacity - now.taken)
    closed = min(free, reserved_left(lasting, held))
    yield _n(
        "Of %(num)s free seat, %(kept)s will be reserved and %(open)s open to everyone.",
        "Of %(num)s free seats, %(kept)s will be reserved and %(open)s open to everyone.",
        free,
        kept=closed,
        open=free - closed,
    )
    yield _("No one loses a seat. The waitlist is checked again, in order.")


def _clashing(
    session: Session, stored: StoredSection, wanted: SectionDetails, offered: TermCatalog
) -> list[AffectedStudent]:
    """Return those with a seat whose other sections newly clash with the changed times."""
    before = students.clashing(session, stored.id, offered, stored.details.meetings)
    known = {(person.id, clash) for person in before for clash in person.clashes}
    after = students.clashing(session, stored.id, offered, wanted.meetings)
    return [each for each in after if {(each.id, clash) for clash in each.clashes} - known]


def _new_times(troubled: int) -> str:
    if not troubled:
        return _("The new times cause no conflicts for enrolled students.")
    return _n(
        "The new times conflict with another section for %(num)s enrolled student. The"
        " student keeps the seat.",
        "The new times conflict with another section for %(num)s enrolled students."
        " They keep their seats.",
        troubled,
    )


def _newly_linked(
    stored: StoredSection, wanted: SectionDetails, offered: TermCatalog
) -> Iterator[str]:
    """Yield that courses become corequisites, because each now names the other."""
    view = offered.section(stored.id)
    if view is None:
        return
    then = replace(view, corequisites=wanted.corequisites)
    new = set(linked_courses.courses(then, offered)) - set(linked_courses.courses(view, offered))
    codes = sorted(code for each in new if (code := offered.course_code(each)))
    if codes:
        yield _(
            "%(courses)s and this course name each other as corequisites. Students add and"
            " drop them together.",
            courses=requisites.all_of([requisites.shown(code) for code in codes]),
        )


# A change of the status


def obstacle(action: str, code: str) -> str:
    """Return why a change is not possible, for a code of NotPossible."""
    live = action == "delete" and code in RUNNING
    return str(OBSTACLES["live" if live else code])


def status_refusal(action: str, stored: StoredSection, now: Occupancy) -> str:
    """Return why the section's state prevents the change; blank if it does not."""
    wanted = STATUS_CHANGES[action]
    moved = stored.deleted == wanted.deletes if wanted.deletes is not None else False
    if moved or (stored.status == wanted.status and not stored.deleted):
        return _("This was already done.")
    in_use = action == "unpublish" and (now.taken or now.waiting)
    if why := sections.status_obstacle(action, stored) or ("in_use" if in_use else ""):
        return obstacle(action, why)
    if action not in {"delete", "reoffer"} or not now.seats:
        return ""
    if now.anyone:
        return obstacle(action, "held" if action == "delete" else "leaving")
    if now.seats.status != stored.status:
        # The ledger may still admit students to the section: close it there first.
        send_sections(stored.term_id, stored.id)
        return obstacle(action, "untold")
    return ""


def held_drafts(term_id: int, ids: Sequence[int]) -> list[int] | None:
    """Send sections that became drafts to the ledger; return those in which a student is.

    None if the ledger does not respond.
    """
    if not send_sections(term_id, *ids):
        return None
    try:
        seats = backend().ledger.seats_of(term_id, ids)
    except LedgerUnavailable:
        return None
    return [each for each in ids if each in seats and (seats[each].taken or seats[each].waiting)]


def of_status(action: str, now: Occupancy) -> list[str]:
    """Return the effects of a change of the status on students."""
    if action in MEANINGS:
        return [str(each) for each in MEANINGS[action]]
    match action:
        case "confirm":
            return [
                _(
                    "The section will take place. Its roster is closed: students can no longer"
                    " register."
                ),
                _("Enrolled students keep their seats."),
                *_waiters(now, _("They stay on the waitlist but get no seat.")),
            ]
        case "reopen":
            return [
                _("Students can register again while a window is open."),
                *_waiters(now, _("They get the free seats at once, in waitlist order.")),
            ]
        case "cancel":
            return _meaning_of_cancel(now)
        case _:
            return [_("The section returns as it was: as a draft, or canceled.")]


def of_losses(seats: int, positions: int, prior: int) -> list[str]:
    """Return what students lose if sections are canceled."""
    sentences = [
        _n("%(num)s student loses a seat.", "%(num)s students lose a seat.", seats)
        + " "
        + _n(
            "%(num)s student loses a waitlist position.",
            "%(num)s students lose a waitlist position.",
            positions,
        )
    ]
    if seats or positions:
        sentences.append(
            _(
                "Each student is notified at once, on the page and by email, and can choose"
                " another section."
            )
        )
    if prior:
        sentences.append(_without_names(prior))
    together = _(
        "All sections are canceled together. Students don’t get their seats and positions back."
    )
    return [*sentences, together]


def _without_names(prior: int) -> str:
    return _n(
        "%(num)s seat was taken before registration started here. We have no name for this"
        " student, so we can’t notify them.",
        "%(num)s seats were taken before registration started here. We have no names for these"
        " students, so we can’t notify them.",
        prior,
    )


def _meaning_of_cancel(now: Occupancy) -> list[str]:
    sentences = [
        _n("%(num)s student is enrolled.", "%(num)s students are enrolled.", now.taken - now.prior),
        _n(
            "%(num)s student is on the waitlist.",
            "%(num)s students are on the waitlist.",
            now.waiting,
        ),
    ]
    if now.anyone:
        sentences.append(
            _(
                "They lose their seats and waitlist positions. Each of them is notified at"
                " once, on the page and by email."
            )
        )
    if now.prior:
        sentences.append(_without_names(now.prior))
    for_good = _(
        "Students don’t get their seats and positions back, even if you offer the section again."
    )
    return [*sentences, for_good]


def _waiters(now: Occupancy, then: str) -> list[str]:
    if not now.waiting:
        return []
    return [
        " ".join(
            (_n("%(num)s student is waiting.", "%(num)s students are waiting.", now.waiting), then)
        )
    ]


# Seat pools


def of_pool(now: SeatPool, wanted: SeatPool, term_id: int) -> Effects:
    """Return the effects of a change of a seat pool, and how many students each concerns."""
    needs_reason = not wanted.ids <= now.ids or wanted.capacity < now.capacity
    if len(wanted.members) <= 1:
        alone = _("The sections no longer share seats. Enrolled students keep their seats.")
        return Effects([alone], needs_reason)
    counts = backend().ledger.seats_of(term_id, sorted(wanted.ids))
    taken = sum(each.taken for each in counts.values())
    sentences = [
        _n(
            "%(num)s seat is taken in these sections in total.",
            "%(num)s seats are taken in these sections in total.",
            taken,
        ),
        _("A student gets a seat if both the section and the shared seats have one free."),
        *_too_few(taken - wanted.capacity),
    ]
    if gone := [each.name for each in now.members if each.id not in wanted.ids]:
        sentences.append(_("No longer sharing seats: %(names)s.", names=requisites.all_of(gone)))
    return Effects(sentences, needs_reason)
