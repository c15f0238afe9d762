"""A change of a section's status in sentences: why it is refused, or what it means."""

from portal.catalog import sections
from portal.catalog.sections import RUNNING, STATUS_CHANGES, StoredSection
from portal.core.i18n import _, _l, _n
from portal.reports.effects.sections import Occupancy
from portal.windows.warmup import send_sections

OBSTACLES = {
    "NEW": _l("The section is a draft: publish it first, or delete it."),
    "OPEN": _l("The section is already open."),
    "CONFIRMED": _l("The section is already confirmed."),
    "CANCELED": _l("The section is canceled, so it can’t be changed."),
    "live": _l("Students can still register. Cancel the section before you delete it."),
    "deleted": _l("The section is deleted. Restore it first."),
    "not_deleted": _l("The section is not deleted, so it can’t be restored."),
    "held": _l("Students are enrolled or on the waitlist, so the section can’t be deleted."),
    "unknown": _l("This term has no such section."),
    "crn_taken": _l("Another section of this term has this CRN. Choose another."),
    "pooled": _l("One of the sections already shares seats with others. Remove it there first."),
    "pool_name_taken": _l(
        "This term already has shared seats with this name. Choose another name."
    ),
    "untold": _l("The ledger does not respond, so we can’t check this. Try again in a moment."),
}


def obstacle(action: str, code: str) -> str:
    """Return why a change is not possible, for a code of NotPossible."""
    live = action == "delete" and code in RUNNING
    return str(OBSTACLES["live" if live else code])


def refusal(action: str, stored: StoredSection, now: Occupancy) -> str:
    """Return why the section's state prevents the change; blank if it does not."""
    wanted = STATUS_CHANGES[action]
    moved = stored.deleted == wanted.deletes if wanted.deletes is not None else False
    if moved or (stored.status == wanted.status and not stored.deleted):
        return _("This was already done.")
    if why := sections.status_obstacle(action, stored):
        return obstacle(action, why)
    if action != "delete" or not now.seats:
        return ""
    if now.anyone:
        return obstacle(action, "held")
    if now.seats.status != stored.status:
        # The ledger still admits students to the section: close it there first.
        send_sections(stored.term_id, stored.id)
        return obstacle(action, "untold")
    return ""


def meaning(action: str, now: Occupancy) -> list[str]:
    """Return the effects of a change of the status on students."""
    match action:
        case "publish":
            return [
                _("Students can find it now and register while their window is open."),
                _("Pages that are already open show it after a reload."),
            ]
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
        case "delete":
            return [
                _("It disappears from all lists. No one is enrolled or on the waitlist."),
                _("Its history is kept, and you can restore it."),
            ]
        case _:
            return [_("The section returns unchanged, and students can see it again.")]


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
        sentences.append(
            _n(
                "%(num)s seat was taken before registration started here. We don’t know by"
                " whom: please tell the student yourself.",
                "%(num)s seats were taken before registration started here. We don’t know by"
                " whom: please tell the students yourself.",
                now.prior,
            )
        )
    return [*sentences, _("This can’t be undone. To offer the class again, create a new section.")]


def _waiters(now: Occupancy, then: str) -> list[str]:
    if not now.waiting:
        return []
    return [
        " ".join(
            (_n("%(num)s student is waiting.", "%(num)s students are waiting.", now.waiting), then)
        )
    ]
