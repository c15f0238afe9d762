"""The kinds of notifications: for each the text, the mail setting, and who receives it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote_plus

from portal.backend import backend
from portal.catalog.formatting import days
from portal.catalog.local_time import LocalClock
from portal.catalog.requisites import all_of, shown
from portal.catalog.section_changes import changes
from portal.catalog.term_catalog import catalog_of
from portal.catalog.views import MeetingView
from portal.core.i18n import _, _k, _l
from portal.ledger.types import Reason
from portal.notifications.models import Notification
from portal.registration.next_steps import NextStep, RefusalContext, section_name
from portal.registration.reasons import explain, hold_reason, hold_text, permission_names
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


def text_of(news: Notification) -> NotificationText:
    """Return the notification's text for its reader."""
    return KINDS[news.kind].write(news)


# Seats and waitlists


def _promoted(news: Notification) -> NotificationText:
    text = [_("A seat came free and it is yours. You are off the waitlist.")]
    if old := news.data.get("instead"):
        text.append(_("As you wished, your seat in %(name)s went for it.", name=_named(old)))
    title = _("You have a seat in %(name)s", name=_named(news.data))
    return NotificationText(title, tuple(text), _mine(news), "go")


def _passed_over(news: Notification) -> NotificationText:
    try:
        offered = catalog_of(news.term_id)
    except LookupError:
        reasons = []
    else:
        case = RefusalContext(offered, offered.section(news.section_id or 0), _zone())
        codes = [Reason(each["code"], each.get("facts") or {}) for each in news.data["reasons"]]
        reasons = explain(codes, case)
    if news.data.get("lost"):
        place = _("By the rule of this term you have lost your place on the waitlist.")
    else:
        place = _("You keep your place for the next one.")
    title = _("A seat in %(name)s came free, and could not be yours", name=_named(news.data))
    step = next((each.step for each in reasons if each.step), _mine(news))
    return NotificationText(title, (*(each.text for each in reasons), place), step, "wait")


def _by_hand(news: Notification) -> NotificationText:
    name, old, gone = _named(news.data), news.data.get("instead"), news.data.get("gone")
    if old:
        title = _(
            "The registrar has moved you from %(old)s to %(name)s", old=_named(old), name=name
        )
    elif gone:
        title = _("The registrar has taken you out of %(name)s", name=name)
    else:
        title = _("The registrar has given you a seat in %(name)s", name=name)
    clashes = _clashes(news)
    text = _("If you did not expect this, please ask the registrar.")
    tone = "stop" if gone or clashes else "go"
    return NotificationText(title, (*clashes, *_alone(news), text), _mine(news), tone)


def _corequisite_lost(news: Notification) -> NotificationText:
    title = _("%(name)s, which another class of yours needs, is gone", name=_named(news.data))
    return NotificationText(title, _alone(news), _mine(news), "stop")


def _alone(news: Notification) -> tuple[str, ...]:
    """Return the text about seats held without their corequisite, if there are any."""
    if "alone" not in news.data:
        return ()
    views = catalog_of(news.term_id).some(news.data["alone"])
    kept = _(
        "Your seat in %(names)s needs it. You keep that seat for now: pick another section, or"
        " ask the registrar.",
        names=all_of([section_name(view) for view in views]),
    )
    return (kept,)


# Sections


def _canceled(news: Notification) -> NotificationText:
    about = {"title": news.data["title"]}
    if news.data["had"] == "seat":
        text = _("You had a seat in %(title)s. What else you have selected stays yours.", **about)
    else:
        text = _("You were on the waitlist of %(title)s. What else you have stays yours.", **about)
    title = _("%(name)s has been canceled", name=_named(news.data))
    step = NextStep(_("Find another section"), _sections_of_course(news))
    return NotificationText(title, (text,), step, "stop")


def _changed(news: Notification) -> NotificationText:
    name, seat = _named(news.data), news.data["had"] == "seat"
    text = [_change(*each) for each in changes(news.data["changes"])]
    if any("meetings" in each for each in news.data["changes"]) and (clashes := _clashes(news)):
        others = all_of([_named(each) for each in news.data["clashes"]])
        title = _("%(name)s has changed and clashes with %(others)s", name=name, others=others)
        if seat:
            then = _(
                "Both seats stay yours. Cancel or swap one of them, or ask the registrar’s office."
            )
        else:
            then = _("You keep your place on the waitlist, but get no seat while they clash.")
        return NotificationText(title, (*clashes, *text, then), _mine(news), "stop")
    title = _("%(name)s has changed", name=name)
    if seat:
        then = _("Look whether it still suits you. Your seat stays yours.")
    else:
        then = _("Look whether it still suits you. You keep your place on the waitlist.")
    return NotificationText(title, (*text, then), _mine(news), "wait")


def _change(label: str, old: list[str], new: list[str]) -> str:
    facts = {"field": label, "old": "; ".join(old), "new": "; ".join(new)}
    if old and new:
        return _("%(field)s: %(new)s, instead of %(old)s.", **facts)
    if new:
        return _("%(field)s: now %(new)s.", **facts)
    return _("%(field)s: no more %(old)s.", **facts)


def _clashes(news: Notification) -> list[str]:
    """Return a sentence for each section of the student that meets at the same time."""
    texts = []
    for each in news.data.get("clashes", ()):
        meetings = [MeetingView("", "", True, *meeting) for meeting in each["meetings"]]  # noqa: FBT003
        times = dict.fromkeys(f"{days(view.mask)} {view.times}" for view in meetings)
        texts.append(
            _(
                "It meets at the same time as your %(name)s (%(times)s).",
                name=_named(each),
                times=all_of(list(times)),
            )
        )
    return texts


# Permissions, holds and windows


def _permitted(news: Notification) -> NotificationText:
    name = _named(news.data)
    if news.data["gone"]:
        title = _("You may no longer pick %(name)s past its rules", name=name)
        kept = _("The registrar has taken it back. A seat that you have stays yours.")
        return NotificationText(title, (kept,), _mine(news), "stop")
    text = [
        _("Put aside for you: %(rules)s.", rules=permission_names(news.data["waives"])),
        _("It gives no seat: pick the section, or wait for it, as everyone does."),
    ]
    if until := news.data["until"]:
        text.append(_("You may until %(when)s.", when=_last_moment(until)))
    title = _("You may now pick %(name)s", name=name)
    step = NextStep(_("Go to the section"), _sections_of_course(news))
    return NotificationText(title, tuple(text), step, "go")


def _hold(news: Notification) -> NotificationText:
    data, step = news.data, _mine(news)
    if data["gone"]:
        title = _("The hold on your record is lifted: %(kind)s", kind=data["hold"])
        reason = hold_reason(data)
        lifted = _("It no longer keeps you from picking sections: %(reason)s.", reason=reason)
        return NotificationText(title, (lifted,), step, "go")
    text = [hold_text(data)]
    if data["since"]:
        text.append(_("It begins %(when)s.", when=LocalClock(_zone()).full(data["since"])))
    if data["until"]:
        text.append(_("It ends %(when)s.", when=_last_moment(data["until"])))
    text.append(
        _(
            "While the hold is active you can’t add classes or get a seat from a waitlist."
            " You keep the classes you have."
        )
    )
    title = _("There is a hold on your record: %(kind)s", kind=data["hold"])
    return NotificationText(title, tuple(text), step, "stop")


def _window_soon(news: Notification) -> NotificationText:
    clock = LocalClock(_zone())
    title = _("Your selection window begins on %(when)s", when=clock.full(news.data["opens"]))
    text = [
        _("It is open until %(when)s.", when=clock.full(news.data["closes"])),
        _("Log in ahead of time: the page opens by itself."),
    ]
    if news.data["name"]:
        text.append(_("The window is called %(name)s.", name=news.data["name"]))
    step = NextStep(_("See the sections"), _term_url(news))
    return NotificationText(title, tuple(text), step, "wait")


# Requests of instructors


def _request_made(news: Notification) -> NotificationText:
    facts = {"who": news.data["who"], "name": _named(news.data)}
    if wanted := news.data.get("wanted"):
        title = _("%(who)s asks for %(wanted)s seats in %(name)s", wanted=wanted, **facts)
    else:
        title = _("%(who)s asks for a way past a rule in %(name)s", **facts)
    step = NextStep(_("Look at the request"), f"/admin/requests/{news.data['request']}")
    return NotificationText(title, (news.data["reason"],), step, "wait")


def _request_decided(news: Notification) -> NotificationText:
    name, approved = _named(news.data), news.data["state"] == "approved"
    text: list[str] = []
    if not approved:
        title = _("Your request for %(name)s is declined", name=name)
    elif wanted := news.data.get("wanted"):
        title = _("%(name)s has %(wanted)s seats now", name=name, wanted=wanted)
        text.append(_("Your request is approved."))
        if promised := news.data.get("promise"):  # what the waiting students were to get
            text += outlook_in_words(WaitlistOutlook(**promised))
    else:
        title = _("Your request for %(name)s is approved", name=name)
        text.append(_("The student may now pick the section past the rules that you named."))
    if news.data["note"]:
        text.append(news.data["note"])
    step = NextStep(_("See my requests"), "/teaching/requests")
    return NotificationText(title, tuple(text), step, "go" if approved else "stop")


# Applications of students


def _application_sent(news: Notification) -> NotificationText:
    title = _("There is a new application for %(name)s", name=_named(news.data))
    step = NextStep(_("Look at the application"), f"/admin/applications/{news.data['application']}")
    return NotificationText(title, (), step, "wait")


def _application_moved(news: Notification) -> NotificationText:
    title, tone = {
        "approved": (_k("Your application for %(name)s is approved"), "go"),
        "declined": (_k("Your application for %(name)s is declined"), "stop"),
        "more": (_k("Your application for %(name)s needs something more"), "few"),
    }[news.data["state"]]
    url = f"{_term_url(news)}/applications/{news.data['application']}"
    text = (news.data["note"],) if news.data["note"] else ()
    step = NextStep(_("See my application"), url)
    return NotificationText(_(title, name=_named(news.data)), text, step, tone)


def _mine(news: Notification) -> NextStep:
    return NextStep(_("See my selections"), f"{_term_url(news)}/mine")


def _sections_of_course(news: Notification) -> str:
    return f"{_term_url(news)}?q={quote_plus(shown(news.data['code']))}"


def _term_url(news: Notification) -> str:
    return f"/terms/{news.term_id}"


def _named(section: dict[str, Any]) -> str:
    """Return a section's usual name, such as CSC 1100-01."""
    return f"{shown(section['code'])}-{section['number']}"


def _last_moment(until: int) -> str:
    return LocalClock(_zone()).full(until - 1000)  # midnight belongs to the next day


def _zone() -> Any:
    return backend().settings.zone


# In the order of the mail settings.

PROMOTED = Kind(
    "promoted",
    _promoted,
    _l("A seat has come to you"),
    _l("You were on a waitlist, and now the seat is yours."),
)
PASSED_OVER = Kind(
    "passed_over",
    _passed_over,
    _l("A seat could not be yours"),
    _l("It was your turn, but a rule stood in the way. You are told which, and about your place."),
)
BY_HAND = Kind(
    "by_hand",
    _by_hand,
    _l("The registrar has changed your selections"),
    _l("You were put into a section, taken out of one, or moved."),
    toast=True,
)
CANCELED = Kind(
    "section_canceled",
    _canceled,
    _l("A section has been canceled"),
    _l("You had a seat in it, or were on its waitlist."),
    toast=True,
)
COREQUISITE_LOST = Kind(
    "corequisite_lost",
    _corequisite_lost,
    _l("A class of yours has lost its corequisite"),
    _l("You keep your seat, but another class that it must be taken with is gone."),
    toast=True,
)
CHANGED = Kind(
    "section_changed",
    _changed,
    _l("A section of yours has changed"),
    _l("Its times, rooms or teachers, or how it is held; you have a seat in it, or wait for one."),
    toast=True,
)
PERMITTED = Kind(
    "permitted",
    _permitted,
    _l("You may pick a section past a rule, or no longer"),
    _l("The registrar has put rules of one section aside for you, or has taken that back."),
    toast=True,
)
HOLD = Kind(
    "hold",
    _hold,
    _l("There is a hold on your record, or it is lifted"),
    _l("While a hold stands, you can’t pick sections. You are told why and who lifts it."),
    toast=True,
)
WINDOW_SOON = Kind(
    "window_soon",
    _window_soon,
    _l("Your selection window begins soon"),
    _l("A day ahead, and once more shortly before."),
    rank=1,
    toast=True,
)
REQUEST_MADE = Kind(
    "request_made",
    _request_made,
    _l("Somebody who teaches asks for something"),
    _l("More seats for a class, or a way past a rule for one student."),
    toast=True,
    role="admin",
)
REQUEST_DECIDED = Kind(
    "request_decided",
    _request_decided,
    _l("A request of yours has been decided"),
    _l("You asked for more seats, or for a way past a rule for one student."),
    toast=True,
    role="instructor",
)
APPLICATION_MOVED = Kind(
    "application_moved",
    _application_moved,
    _l("An application of yours has been decided"),
    _l("It is approved or declined, or needs something more from you."),
    toast=True,
)
APPLICATION_SENT = Kind(
    "application_sent",
    _application_sent,
    _l("A student has sent an application"),
    _l("It waits for a decision."),
    toast=True,
    role="admin",
)
KINDS = {
    kind.name: kind
    for kind in (
        *(PROMOTED, PASSED_OVER, BY_HAND, CANCELED, COREQUISITE_LOST, CHANGED, PERMITTED, HOLD),
        *(WINDOW_SOON, APPLICATION_MOVED, REQUEST_MADE, APPLICATION_SENT, REQUEST_DECIDED),
    )
}
