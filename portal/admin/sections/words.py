"""What is said of deeds with sections."""

from collections.abc import Callable
from dataclasses import dataclass

from portal.admin.sections.impact import Part
from portal.core.i18n import _, _l, _n

NOT_POSSIBLE = {
    "NEW": _l("The section is a draft: publish it first, or delete it."),
    "OPEN": _l("The section is open for selection."),
    "CONFIRMED": _l("The section has been confirmed."),
    "CANCELED": _l("The section has been canceled, so nothing about it can be changed."),
    "live": _l("Students may still come in. Cancel it before you delete it."),
    "deleted": _l("The section has been deleted. Bring it back first."),
    "not_deleted": _l("The section is not deleted."),
    "held": _l("Somebody has a seat in it or waits for one, so it can't be deleted."),
    "unknown": _l("There is no such section in this term."),
    "crn_taken": _l("This term has a section with that CRN already. Choose another."),
    "pooled": _l(
        "One of the sections shares its seats with others already. Take it out there first."
    ),
    "pool_name_taken": _l("This term has shared seats of that name already. Choose another."),
    "untold": _l(
        "The seat ledger does not answer just now, so nobody can say who has a part in it."
        " Try again in a moment."
    ),
}


@dataclass(frozen=True)
class Words:
    """One deed: its name, the page on which it is confirmed, and what is said once it is done."""

    name: str
    title: str
    button: str
    done: str  # with a placeholder for the section's name
    meaning: Callable[[Part], list[str]]
    takes: bool = False  # something from students, so that it needs a reason


def _publish(_now: Part) -> list[str]:
    return [
        _("Students find it from now on, and can pick it while their window is open."),
        _("Pages that are open show it once they are reloaded."),
    ]


def _confirm(now: Part) -> list[str]:
    said = [
        _("It runs for certain, and its roster is closed: nobody can pick it any more."),
        _("Those who have a seat keep it."),
    ]
    return [*said, *_waiters(now, _("They keep their places, but no seat comes to them."))]


def _reopen(now: Part) -> list[str]:
    said = [_("It can be picked again while a window is open.")]
    return [*said, *_waiters(now, _("Free seats go to them at once, in their order."))]


def _cancel(now: Part) -> list[str]:
    known = now.taken - now.prior
    said = [
        _n("%(num)s student has a seat.", "%(num)s students have a seat.", known),
        _n("%(num)s student waits for one.", "%(num)s students wait for one.", now.waiting),
    ]
    if now.anyone:
        said.append(
            _(
                "Their seats and places are given up, and each of them is told at once,"
                " on the page and by mail."
            )
        )
    if now.prior:
        said.append(
            _n(
                "%(num)s seat was taken before selection here began, by someone whose name is not"
                " known here: tell them yourself.",
                "%(num)s seats were taken before selection here began, by students whose names are"
                " not known here: tell them yourself.",
                now.prior,
            )
        )
    return [*said, _("This can't be undone: to offer it after all, make a new section.")]


def _delete(_now: Part) -> list[str]:
    return [
        _("It disappears from every list. Nobody has a seat in it or waits for one."),
        _("Its history stays, and it can be brought back."),
    ]


def _undelete(_now: Part) -> list[str]:
    return [_("It comes back as it was, and students see it where they saw it before.")]


def _waiters(now: Part, then: str) -> list[str]:
    if not now.waiting:
        return []
    return [" ".join((_n("%(num)s student waits.", "%(num)s students wait.", now.waiting), then))]


DEEDS = {
    "publish": Words(
        _l("Publish"),
        _l("Publish the section"),
        _l("Publish it"),
        _l("Published: %(name)s."),
        _publish,
    ),
    "confirm": Words(
        _l("Confirm"),
        _l("Confirm the section"),
        _l("Confirm it"),
        _l("Confirmed: %(name)s."),
        _confirm,
    ),
    "reopen": Words(
        _l("Open again"),
        _l("Open the section again"),
        _l("Open it again"),
        _l("Open again: %(name)s."),
        _reopen,
    ),
    "cancel": Words(
        _l("Cancel section"),
        _l("Cancel the section"),
        _l("Cancel the section"),
        _l("Canceled: %(name)s."),
        _cancel,
        takes=True,
    ),
    "delete": Words(
        _l("Delete"),
        _l("Delete the section"),
        _l("Delete it"),
        _l("Deleted: %(name)s."),
        _delete,
    ),
    "undelete": Words(
        _l("Bring back"),
        _l("Bring the section back"),
        _l("Bring it back"),
        _l("Brought back: %(name)s."),
        _undelete,
    ),
}

ACTIONS = {
    "section.create": _l("Created"),
    "section.edit": _l("Changed"),
    "section.share": _l("Shared seats changed"),
    "section.publish": _l("Published"),
    "section.confirm": _l("Confirmed"),
    "section.reopen": _l("Opened again"),
    "section.cancel": _l("Canceled"),
    "section.delete": _l("Deleted"),
    "section.undelete": _l("Brought back"),
}


def obstacle(deed: str, code: str) -> str:
    """Why a deed is not possible, for a code of NotPossible."""
    live = deed == "delete" and code in {"OPEN", "CONFIRMED"}
    return str(NOT_POSSIBLE["live" if live else code])
