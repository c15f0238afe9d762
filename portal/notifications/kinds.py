"""The kinds of notifications: for each the text, the mail setting, and who receives it."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from functools import partial
from typing import Any
from urllib.parse import quote_plus

from portal.catalog import requisites
from portal.catalog.formatting import day, money
from portal.catalog.local_time import local_clock
from portal.catalog.requisites import all_of, shown
from portal.catalog.section_changes import changes
from portal.catalog.term_catalog import catalog_of
from portal.catalog.time_conflicts import same_time_in_words
from portal.catalog.views import MeetingView
from portal.core.i18n import _, _k, _l, _n
from portal.ledger.types import Reason
from portal.notifications.models import Notification
from portal.registration.next_steps import NextStep, RefusalContext, section_name
from portal.registration.reasons import (
    explain,
    hold_heading,
    hold_reason,
    hold_text,
    permission_names,
)
from portal.registration.seat_counts import WaitlistOutlook, outlook_in_words


@dataclass(frozen=True)
class NotificationText:
    """What happened, what it means, and where to go next; in the inbox, a toast and a mail."""

    title: str
    text: tuple[str, ...]
    step: NextStep
    tone: str = ""


@dataclass(frozen=True)
class Kind:
    """A kind: `label` and `hint` for its setting, `rank` in the outbox (0 goes first)."""

    name: str
    write: Callable[[Notification], NotificationText]
    label: Any
    hint: Any
    rank: int = 0
    toast: bool = False  # open pages show the notification; for other kinds they show the event
    role: str = "student"  # who receives it
    of_term: bool = True  # whether it is about the term that it belongs to


def text_of(notification: Notification) -> NotificationText:
    """Return the notification's text for its reader."""
    return KINDS[notification.kind].write(notification)


# Seats and waitlists


def _promoted(notification: Notification) -> NotificationText:
    text = [_("A seat opened and you got it. You are no longer on the waitlist.")]
    if old := notification.data.get("instead"):
        text.append(_("As you asked, you dropped %(name)s for it.", name=_named(old)))
    title = _("You got a seat in %(name)s", name=_named(notification.data))
    return NotificationText(title, tuple(text), _my_classes(notification), "go")


def _skipped(notification: Notification) -> NotificationText:
    try:
        offered = catalog_of(notification.term_id)
    except LookupError:
        reasons = []
    else:
        context = RefusalContext(offered, offered.section(notification.section_id or 0))
        codes = [
            Reason(each["code"], _without_grades(each.get("facts") or {}))
            for each in notification.data["reasons"]
        ]
        reasons = explain(codes, context)
    if notification.data.get("lost"):
        outcome = _("You lost your waitlist position, as the rules of this term say.")
    else:
        outcome = _("You keep your waitlist position for the next seat.")
    title = _("A seat opened in %(name)s, but you couldn’t get it", name=_named(notification.data))
    step = next((each.step for each in reasons if each.step), _my_classes(notification))
    return NotificationText(title, (*(each.text for each in reasons), outcome), step, "wait")


def _without_grades(facts: dict[str, Any]) -> dict[str, Any]:
    """Return facts without a student's grades: mail is read by others than the student too."""
    return facts | {"grades": {}} if "grades" in facts else facts


def _adjusted(notification: Notification) -> NotificationText:
    data = notification.data
    name, old, gone = _named(data), data.get("instead"), data.get("gone")
    if old:
        title = _("The registrar moved you from %(old)s to %(name)s", old=_named(old), name=name)
    elif gone:
        title = _("The registrar dropped you from %(name)s", name=name)
    else:
        title = _("The registrar gave you a seat in %(name)s", name=name)
    conflicts = _conflicts(notification)
    text = _("If you did not expect this, ask the registrar.")
    tone = "stop" if gone or conflicts else "go"
    return NotificationText(
        title,
        (*conflicts, *_lost_corequisites(notification), text),
        _my_classes(notification),
        tone,
    )


def _corequisite_lost(notification: Notification) -> NotificationText:
    title = _(
        "You no longer have %(name)s, which another class requires", name=_named(notification.data)
    )
    return NotificationText(
        title, _lost_corequisites(notification), _my_classes(notification), "stop"
    )


def _lost_corequisites(notification: Notification) -> tuple[str, ...]:
    """Return the text about seats held without their corequisite, if there are any."""
    if "alone" not in notification.data:
        return ()
    views = catalog_of(notification.term_id).some(notification.data["alone"])
    kept = _(
        "%(names)s requires it. You keep your seat there for now. "
        "Add another section, or ask the registrar.",
        names=all_of([section_name(view) for view in views]),
    )
    return (kept,)


def _round(notification: Notification) -> NotificationText:
    name = notification.data["name"]
    address = f"/terms/{notification.term_id}/rounds/{notification.data['round']}"
    if notification.data["state"] == "canceled":
        text = _("No one got a seat from it. Your plan is unchanged.")
        title = _("%(name)s has been canceled", name=name)
        return NotificationText(title, (text,), NextStep(_("See the round"), address), "stop")
    text = _("See which classes you got, and why you didn’t get the others.")
    return NotificationText(
        _("The result of %(name)s is out", name=name),
        (text,),
        NextStep(_("See my result"), address),
        "go",
    )


def _ballot(notification: Notification) -> NotificationText:
    data = notification.data
    address = f"/terms/{notification.term_id}/rounds/{data['round']}"
    step = NextStep(_("See the round"), address)
    if "root" not in data:
        clock = local_clock()
        title = _("The end of %(name)s has changed", name=data["name"])
        text = _(
            "It now ends on %(end)s. Until then you can change your ballot.",
            end=clock.full(data["ends"]),
        )
        return NotificationText(title, (text,), step)
    texts = (
        _("Root: %(root)s", root=data["root"]),
        _("Keep this message. With the root you can check later that no one changed a ballot."),
    )
    return NotificationText(_("Your ballot in %(name)s is final", name=data["name"]), texts, step)


# Sections


def _canceled(notification: Notification) -> NotificationText:
    about = {"title": notification.data["title"]}
    if notification.data["had"] == "seat":
        text = _("You had a seat in %(title)s. You keep your other classes.", **about)
    else:
        text = _("You were on the waitlist for %(title)s. You keep your other classes.", **about)
    title = _("%(name)s has been canceled", name=_named(notification.data))
    step = NextStep(_("Find another section"), _sections_of_course(notification))
    return NotificationText(title, (text,), step, "stop")


def _changed(notification: Notification) -> NotificationText:
    name, seat = _named(notification.data), notification.data["had"] == "seat"
    text = [_change(*each) for each in changes(notification.data["changes"])]
    if any("meetings" in each for each in notification.data["changes"]) and (
        conflicts := _conflicts(notification)
    ):
        others = all_of([_named(each) for each in notification.data["clashes"]])
        title = _("%(name)s has changed and conflicts with %(others)s", name=name, others=others)
        if seat:
            then = _(
                "You keep both seats. Drop or swap one of them, or ask the registrar’s office."
            )
        else:
            then = _(
                "You keep your waitlist position, but you get no seat while the times conflict."
            )
        return NotificationText(title, (*conflicts, *text, then), _my_classes(notification), "stop")
    title = _("%(name)s has changed", name=name)
    if seat:
        then = _("You keep your seat. Check that it still fits your schedule.")
    else:
        then = _("You keep your waitlist position. Check that it still fits your schedule.")
    return NotificationText(title, (*text, then), _my_classes(notification), "wait")


def _change(label: str, old: list[str], new: list[str]) -> str:
    facts = {"field": label, "old": "; ".join(old), "new": "; ".join(new)}
    if old and new:
        return _("%(field)s: now %(new)s, before %(old)s.", **facts)
    if new:
        return _("%(field)s: now %(new)s.", **facts)
    return _("%(field)s: no longer %(old)s.", **facts)


def _conflicts(notification: Notification) -> list[str]:
    """Return a sentence for each section of the student that meets at the same time."""
    return [
        same_time_in_words(
            _named(each),
            [MeetingView("", "", True, *meeting) for meeting in each["meetings"]],  # noqa: FBT003
        )
        for each in notification.data.get("clashes", ())
    ]


# Permissions, holds and windows


def _permitted(notification: Notification) -> NotificationText:
    name = _named(notification.data)
    if notification.data["gone"]:
        title = _("Your permission for %(name)s was removed", name=name)
        meaning = _("The rules apply to you again. If you have a seat, you keep it.")
        return NotificationText(title, (meaning,), _my_classes(notification), "stop")
    rules = permission_names(notification.data["waives"])
    text = [
        _("These rules don’t apply to you: %(rules)s. All others do.", rules=rules),
        _("You don’t have a seat yet. Add the section or join its waitlist."),
    ]
    if until := notification.data["until"]:
        text.append(_("Valid until %(when)s.", when=_last_moment(until)))
    title = _("You have a permission for %(name)s: %(rules)s", name=name, rules=rules)
    step = NextStep(_("Go to the section"), _sections_of_course(notification))
    return NotificationText(title, tuple(text), step, "go")


def _hold(notification: Notification) -> NotificationText:
    data, step = notification.data, _my_classes(notification)
    if data["gone"]:
        title = _("The hold on your record was lifted: %(kind)s", kind=data["hold"])
        if "adviser" in data:
            title = _("You can register now")
        reason = hold_reason(data)
        lifted = _("You can add classes again. Reason of the hold: %(reason)s.", reason=reason)
        return NotificationText(title, (lifted,), step, "go")
    text = [hold_text(data)]
    if data["since"]:
        text.append(_("It starts %(when)s.", when=local_clock().full(data["since"])))
    if data["until"]:
        text.append(_("It ends %(when)s.", when=_last_moment(data["until"])))
    text.append(
        _(
            "While the hold is active you can’t add classes or get a seat from a waitlist."
            " You keep the classes you have."
        )
    )
    title = hold_heading(data["hold"])
    if "adviser" in data:
        title = _("You can’t register yet")
    return NotificationText(title, tuple(text), step, "stop")


def _window_soon(notification: Notification) -> NotificationText:
    clock = local_clock()
    title = _("Your registration opens on %(when)s", when=clock.full(notification.data["opens"]))
    text = [
        _("It is open until %(when)s.", when=clock.full(notification.data["closes"])),
        _("Log in early. The page opens automatically."),
    ]
    if notification.data["name"]:
        text.append(_("Name of the window: %(name)s.", name=notification.data["name"]))
    step = NextStep(_("View sections"), _term_url(notification))
    return NotificationText(title, tuple(text), step, "wait")


# Requests of instructors


def _request_made(notification: Notification) -> NotificationText:
    facts = {"who": notification.data["who"], "name": _named(notification.data)}
    if wanted := notification.data.get("wanted"):
        title = _n(
            "%(who)s requests %(num)s seat in %(name)s",
            "%(who)s requests %(num)s seats in %(name)s",
            wanted,
            **facts,
        )
    else:
        title = _("%(who)s requests a permission in %(name)s", **facts)
    step = NextStep(_("View request"), f"/admin/requests/{notification.data['request']}")
    return NotificationText(title, (notification.data["reason"],), step, "wait")


def _request_decided(notification: Notification) -> NotificationText:
    name, approved = _named(notification.data), notification.data["state"] == "approved"
    given = notification.data.get("given")  # if it is less than was asked for
    text: list[str] = []
    if not approved:
        title = _("Your request for %(name)s was declined", name=name)
    elif wanted := notification.data.get("wanted"):
        seats = given or wanted
        title = _n(
            "%(name)s now has %(num)s seat", "%(name)s now has %(num)s seats", seats, name=name
        )
        if given:
            text.append(
                _n(
                    "Your request for %(num)s seat was approved in part.",
                    "Your request for %(num)s seats was approved in part.",
                    wanted,
                )
            )
        else:
            text.append(_("Your request was approved."))
        if promised := notification.data.get("promise"):  # what the waiting students were promised
            text += outlook_in_words(WaitlistOutlook(**promised))
    elif given:
        title = _("Your request for %(name)s was approved in part", name=name)
        text.append(
            _(
                "These rules no longer apply to the student: %(rules)s. The others still do.",
                rules=permission_names(given),
            )
        )
    else:
        title = _("Your request for %(name)s was approved", name=name)
        text.append(_("The rules you named no longer apply to the student. All others still do."))
    if notification.data["note"]:
        text.append(notification.data["note"])
    step = NextStep(_("View my requests"), "/teaching/requests")
    return NotificationText(title, tuple(text), step, "go" if approved else "stop")


# Applications of students


def _application_waits(
    notification: Notification, queue: str = "/teaching/applications"
) -> NotificationText:
    title = _("There is a new application for %(name)s", name=_about(notification))
    step = NextStep(_("View the application"), f"{queue}/{notification.data['application']}")
    return NotificationText(title, (_("It is waiting for a decision."),), step, "wait")


APPLICATION_TEXTS = {
    "sent": _l("We notify you when it is decided."),
    "unpaid": _l("You can pay again on the page of your application."),
    "expired": _l("Nothing was paid. You can pay on the page of your application."),
    "checked": _l("They are all in order."),
    "forward": _l("The registrar decides next."),
    "withdrawn": _l("Your answers and documents were deleted. If you paid a fee, we refund it."),
}
APPLICATION_STEPS = {
    "sent": (_k("We received your application for %(name)s"), "wait"),
    "paid": (_k("Your fee for %(name)s is paid"), "go"),
    "unpaid": (_k("Your payment for %(name)s failed"), "few"),
    "expired": (_k("Your payment for %(name)s was not finished in time"), "few"),
    "checked": (_k("We checked the documents of your application for %(name)s"), "go"),
    "refund": (_k("Your fee for %(name)s is refunded"), "go"),
    "forward": (_k("The department approved your application for %(name)s"), "wait"),
    "due": (_k("Your application for %(name)s is not sent yet"), "few"),
    "approved": (_k("Your application for %(name)s is approved"), "go"),
    "declined": (_k("Your application for %(name)s is declined"), "stop"),
    "withdrawn": (_k("Your application for %(name)s was not finished, so it was withdrawn"), ""),
    "more": (_k("We need more information for your application for %(name)s"), "few"),
}


def _application_moved(notification: Notification) -> NotificationText:
    data = notification.data
    which = data.get("step") or data["state"]
    title, tone = APPLICATION_STEPS[which]
    url = f"{_term_url(notification)}/applications/{data['application']}"
    text = [data["note"]] if data.get("note") else []
    if name := data.get("document"):
        text.append(_("The document %(name)s was refused.", name=name))
    if data.get("documents_in_order"):
        text.append(_("We checked your documents. They are all in order."))
    if which in APPLICATION_TEXTS:
        text.append(str(APPLICATION_TEXTS[which]))
    if amount := data.get("amount"):
        text.append(_("Amount: %(amount)s.", amount=money(amount, data["currency"])))
    if given := data.get("waives"):  # if it is less than was asked for
        title = _k("Your application for %(name)s is approved in part")
        text.append(
            _(
                "These rules no longer apply to you: %(rules)s. The others still do.",
                rules=permission_names(given),
            )
        )
    if last_day := data.get("last_day"):
        shown_day = day(date.fromisoformat(last_day), year=True)
        text.append(_("The last day to send it is %(day)s.", day=shown_day))
    step = NextStep(_("See my application"), url)
    return NotificationText(_(title, name=_about(notification)), tuple(text), step, tone)


def _about(notification: Notification) -> str:
    """Return the section that an application is about, or else its term."""
    return _named(notification.data) if "code" in notification.data else notification.term.name


def _my_classes(notification: Notification) -> NextStep:
    return NextStep(_("See my classes"), f"{_term_url(notification)}/mine")


def _sections_of_course(notification: Notification) -> str:
    return f"{_term_url(notification)}?q={quote_plus(shown(notification.data['code']))}"


def _term_url(notification: Notification) -> str:
    return f"/terms/{notification.term_id}"


def _named(section: dict[str, Any]) -> str:
    """Return a section's usual name, such as CSC 1100-01."""
    return requisites.section_name(section["code"], section["number"])


def _last_moment(until: int) -> str:
    return local_clock().full(until - 1000)  # midnight belongs to the next day


# In the order of the mail settings.

PROMOTED = Kind(
    "promoted",
    _promoted,
    _l("You get a seat from a waitlist"),
    _l("A seat opened and you were next on the waitlist."),
)
SKIPPED = Kind(
    "passed_over",
    _skipped,
    _l("You are skipped on a waitlist"),
    _l(
        "It was your turn, but a rule prevented it. We tell you which rule, and whether "
        "you keep your position."
    ),
)
ROUND = Kind(
    "round",
    _round,
    _l("An allocation round has results"),
    _l("A round that you entered has results or was canceled."),
    toast=True,
)
BALLOT = Kind(
    "ballot",
    _ballot,
    _l("Your ballot in an allocation round is final"),
    _l("Includes a code for checking the result later. Also sent if the round’s end changes."),
    toast=True,
)
ADJUSTED = Kind(
    "by_hand",
    _adjusted,
    _l("The registrar changes your classes"),
    _l("The registrar added, dropped or moved you."),
    toast=True,
)
CANCELED = Kind(
    "section_canceled",
    _canceled,
    _l("A section is canceled"),
    _l("You had a seat in it or were on its waitlist."),
    toast=True,
)
COREQUISITE_LOST = Kind(
    "corequisite_lost",
    _corequisite_lost,
    _l("One of your classes loses its corequisite"),
    _l("You keep your seat, but you no longer have the class it must be taken with."),
    toast=True,
)
CHANGED = Kind(
    "section_changed",
    _changed,
    _l("One of your sections changes"),
    _l(
        "New times, rooms, instructors, format, credits or rules of a class that you have or are"
        " on the waitlist of."
    ),
    toast=True,
)
PERMITTED = Kind(
    "permitted",
    _permitted,
    _l("You get or lose a permission"),
    _l("The registrar lets you add a section despite some of its rules, or no longer does."),
    toast=True,
)
HOLD = Kind(
    "hold",
    _hold,
    _l("A hold is placed on your record or lifted"),
    _l("You can’t add classes during a hold. We tell you the reason and who can lift it."),
    toast=True,
    of_term=False,
)
WINDOW_SOON = Kind(
    "window_soon",
    _window_soon,
    _l("Your registration opens soon"),
    _l("One day before, and again shortly before."),
    rank=1,
    toast=True,
)
REQUEST_MADE = Kind(
    "request_made",
    _request_made,
    _l("An instructor sends a request"),
    _l("More seats for a class, or a permission for a student."),
    toast=True,
    role="admin",
)
REQUEST_DECIDED = Kind(
    "request_decided",
    _request_decided,
    _l("Your request is decided"),
    _l("You requested more seats for a class, or a permission for a student."),
    toast=True,
    role="instructor",
)
APPLICATION_MOVED = Kind(
    "application_moved",
    _application_moved,
    _l("Updates on your applications"),
    _l("An application was received, paid, checked or decided, or we need more information."),
    toast=True,
)
APPLICATION_SENT = Kind(
    "application_sent",
    partial(_application_waits, queue="/admin/applications"),
    _l("Someone has sent an application"),
    _l("It is waiting for a decision."),
    toast=True,
    role="admin",
)
APPLICATION_AT_DEPARTMENT = Kind(
    "application_waiting",
    _application_waits,
    _l("Someone has sent an application to your department"),
    _l("It is waiting for a decision."),
    toast=True,
    role="decider",
)
CONSENT_ASKED = Kind(
    "consent_asked",
    _application_waits,
    _l("A student asks for your consent"),
    _l("For a class of yours that needs it."),
    toast=True,
    role="instructor",
)
KINDS = {
    kind.name: kind
    for kind in (
        *(PROMOTED, SKIPPED, ADJUSTED, CANCELED, COREQUISITE_LOST, CHANGED, PERMITTED, HOLD),
        *(WINDOW_SOON, APPLICATION_MOVED, REQUEST_MADE, APPLICATION_SENT, REQUEST_DECIDED),
        *(APPLICATION_AT_DEPARTMENT, CONSENT_ASKED, ROUND, BALLOT),
    )
}
