"""The text of a notification, the same in the inbox, in a toast and in a mail."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote_plus

from portal.backend import backend
from portal.catalog import requisites
from portal.catalog.local_time import LocalClock
from portal.catalog.section_changes import changes
from portal.catalog.term_catalog import catalog_of
from portal.core.i18n import _
from portal.ledger.types import Reason
from portal.notifications import from_events
from portal.notifications.kinds import (
    BY_HAND,
    CANCELED,
    CHANGED,
    COREQUISITE_LOST,
    HOLD,
    PASSED_OVER,
    PERMITTED,
    PROMOTED,
    REQUEST_DECIDED,
    REQUEST_MADE,
    WINDOW_SOON,
)
from portal.registration.next_steps import NextStep, RefusalContext, section_name
from portal.registration.reasons import (
    Explanation,
    explain,
    hold_reason,
    hold_text,
    permission_names,
)
from portal.registration.seat_counts import WaitlistOutlook, outlook_in_words


@dataclass(frozen=True)
class NotificationContent:
    """The subject of a notification; `data` as stored."""

    kind: str
    term: int
    section: int | None
    data: dict[str, Any]

    @property
    def name(self) -> str:
        """Return the section's usual name, such as CSC 1100-01."""
        return _named(self.data)

    @property
    def url(self) -> str:
        """Return the URL of the term's page."""
        return f"/terms/{self.term}"


@dataclass(frozen=True)
class NotificationText:
    """What happened, what it means, and where to go next."""

    title: str
    text: tuple[str, ...]
    step: NextStep
    tone: str = ""


def text_of(news: NotificationContent) -> NotificationText:
    """Return the notification's text for its reader."""
    return TEXTS[news.kind](news)


def _promoted(news: NotificationContent) -> NotificationText:
    text = [_("A seat came free and it is yours. You are off the waitlist.")]
    if old := news.data.get("instead"):
        text.append(_("As you wished, your seat in %(name)s went for it.", name=_named(old)))
    title = _("You have a seat in %(name)s", name=news.name)
    return NotificationText(title, tuple(text), _mine(news), "go")


def _passed_over(news: NotificationContent) -> NotificationText:
    reasons = _reasons(news)
    place = (
        _("By the rule of this term you have lost your place on the waitlist.")
        if news.data.get("lost")
        else _("You keep your place for the next one.")
    )
    text = (*(each.text for each in reasons), place)
    title = _("A seat in %(name)s came free, and could not be yours", name=news.name)
    steps = [each.step for each in reasons if each.step]
    return NotificationText(title, text, steps[0] if steps else _mine(news), "wait")


def _by_hand(news: NotificationContent) -> NotificationText:
    if old := news.data.get("instead"):
        title = _(
            "The registrar has moved you from %(old)s to %(name)s",
            old=_named(old),
            name=news.name,
        )
    elif news.data.get("gone"):
        title = _("The registrar has taken you out of %(name)s", name=news.name)
    else:
        title = _("The registrar has given you a seat in %(name)s", name=news.name)
    clashes = _clashes(news)
    text = _("If you did not expect this, please ask the registrar.")
    tone = "stop" if news.data.get("gone") or clashes else "go"
    lost = _alone(news) if "alone" in news.data else ()
    return NotificationText(title, (*clashes, *lost, text), _mine(news), tone)


def _canceled(news: NotificationContent) -> NotificationText:
    title = _("%(name)s has been canceled", name=news.name)
    about = {"title": news.data["title"]}
    if news.data["had"] == "seat":
        text = _("You had a seat in %(title)s. What else you have selected stays yours.", **about)
    else:
        text = _("You were on the waitlist of %(title)s. What else you have stays yours.", **about)
    return NotificationText(
        title, (text,), NextStep(_("Find another section"), _found(news)), "stop"
    )


def _corequisite_lost(news: NotificationContent) -> NotificationText:
    title = _("%(name)s, which another class of yours needs, is gone", name=news.name)
    return NotificationText(title, _alone(news), _mine(news), "stop")


def _alone(news: NotificationContent) -> tuple[str, ...]:
    """Return the text about seats held without their corequisite."""
    cards = catalog_of(news.term).some(news.data["alone"])
    names = requisites.all_of([section_name(card) for card in cards])
    kept = _(
        "Your seat in %(names)s needs it. You keep that seat for now: pick another section, or"
        " ask the registrar.",
        names=names,
    )
    return (kept,)


def _permitted(news: NotificationContent) -> NotificationText:
    if news.data["gone"]:
        title = _("You may no longer pick %(name)s past its rules", name=news.name)
        kept = _("The registrar has taken it back. A seat that you have stays yours.")
        return NotificationText(title, (kept,), _mine(news), "stop")
    text = [
        _("Put aside for you: %(rules)s.", rules=permission_names(news.data["waives"])),
        _("It gives no seat: pick the section, or wait for it, as everyone does."),
    ]
    if until := news.data["until"]:
        # midnight belongs to the next day
        last = LocalClock(backend().settings.zone).full(until - 1000)
        text.append(_("You may until %(when)s.", when=last))
    title = _("You may now pick %(name)s", name=news.name)
    return NotificationText(
        title, tuple(text), NextStep(_("Go to the section"), _found(news)), "go"
    )


def _hold(news: NotificationContent) -> NotificationText:
    data, step = news.data, _mine(news)
    if data["gone"]:
        title = _("The hold on your record is lifted: %(kind)s", kind=data["hold"])
        reason = hold_reason(data)
        text = [_("It no longer keeps you from picking sections: %(reason)s.", reason=reason)]
        return NotificationText(title, tuple(text), step, "go")
    title = _("There is a hold on your record: %(kind)s", kind=data["hold"])
    means = _(
        "While the hold is active you can’t add classes or get a seat from a waitlist."
        " You keep the classes you have."
    )
    return NotificationText(title, (hold_text(data), *_stands(data), means), step, "stop")


def _stands(data: dict[str, Any]) -> Iterable[str]:
    """Yield from when to when, as far as that is set."""
    times = LocalClock(backend().settings.zone)
    if data["since"]:
        yield _("It begins %(when)s.", when=times.full(data["since"]))
    if data["until"]:
        yield _(
            "It ends %(when)s.", when=times.full(data["until"] - 1000)
        )  # midnight belongs to the next day


def _changed(news: NotificationContent) -> NotificationText:
    if any("meetings" in each for each in news.data["changes"]) and (clashes := _clashes(news)):
        return _clashing(news, clashes)
    title = _("%(name)s has changed", name=news.name)
    text = [_change(*each) for each in changes(news.data["changes"])]
    if news.data["had"] == "seat":
        text.append(_("Look whether it still suits you. Your seat stays yours."))
    else:
        text.append(_("Look whether it still suits you. You keep your place on the waitlist."))
    return NotificationText(title, tuple(text), _mine(news), "wait")


def _clashing(news: NotificationContent, clashes: list[str]) -> NotificationText:
    """Return the text for new times that conflict with other sections."""
    others = requisites.all_of([_named(each) for each in news.data["clashes"]])
    title = _("%(name)s has changed and clashes with %(others)s", name=news.name, others=others)
    then = (
        _("Both seats stay yours. Cancel or swap one of them, or ask the registrar’s office.")
        if news.data["had"] == "seat"
        else _("You keep your place on the waitlist, but get no seat while they clash.")
    )
    explain = [_change(*each) for each in changes(news.data["changes"])]
    return NotificationText(title, (*clashes, *explain, then), _mine(news), "stop")


def _clashes(news: NotificationContent) -> list[str]:
    return [
        _(
            "It meets at the same time as your %(name)s (%(times)s).",
            name=_named(each),
            times=requisites.all_of(from_events.conflict_times(each)),
        )
        for each in news.data.get("clashes", ())
    ]


def _change(label: str, old: list[str], new: list[str]) -> str:
    explain = {"field": label, "old": "; ".join(old), "new": "; ".join(new)}
    if old and new:
        return _("%(field)s: %(new)s, instead of %(old)s.", **explain)
    return (
        _("%(field)s: now %(new)s.", **explain)
        if new
        else _("%(field)s: no more %(old)s.", **explain)
    )


def _window_soon(news: NotificationContent) -> NotificationText:
    times = LocalClock(backend().settings.zone)
    opens, closes = times.full(news.data["opens"]), times.full(news.data["closes"])
    title = _("Your selection window begins on %(when)s", when=opens)
    text = [
        _("It is open until %(when)s.", when=closes),
        _("Log in ahead of time: the page opens by itself."),
    ]
    if news.data["name"]:
        text.append(_("The window is called %(name)s.", name=news.data["name"]))
    return NotificationText(title, tuple(text), NextStep(_("See the sections"), news.url), "wait")


def _request_made(news: NotificationContent) -> NotificationText:
    explain = {"who": news.data["who"], "name": news.name}
    if wanted := news.data.get("wanted"):
        title = _("%(who)s asks for %(wanted)s seats in %(name)s", wanted=wanted, **explain)
    else:
        title = _("%(who)s asks for a way past a rule in %(name)s", **explain)
    step = NextStep(_("Look at the request"), f"/admin/requests/{news.data['request']}")
    return NotificationText(title, (news.data["reason"],), step, "wait")


def _request_decided(news: NotificationContent) -> NotificationText:
    approved = news.data["state"] == "approved"
    if approved and (wanted := news.data.get("wanted")):
        title = _("%(name)s has %(wanted)s seats now", name=news.name, wanted=wanted)
        text = [_("Your request is approved."), *_promised(news)]
    elif approved:
        title = _("Your request for %(name)s is approved", name=news.name)
        text = [_("The student may now pick the section past the rules that you named.")]
    else:
        title = _("Your request for %(name)s is declined", name=news.name)
        text = []
    if news.data["note"]:
        text.append(news.data["note"])
    step = NextStep(_("See my requests"), "/teaching/requests")
    return NotificationText(title, tuple(text), step, "go" if approved else "stop")


def _promised(news: NotificationContent) -> Iterable[str]:
    """Yield what the waiting students were to get, if that was known at the decision."""
    promised = news.data.get("promise")
    return outlook_in_words(WaitlistOutlook(**promised)) if promised else ()


def _reasons(news: NotificationContent) -> list[Explanation]:
    reasons = [Reason(each["code"], each.get("facts") or {}) for each in news.data["reasons"]]
    try:
        offered = catalog_of(news.term)
    except LookupError:
        return []
    case = RefusalContext(offered, offered.section(news.section or 0), backend().settings.zone)
    return explain(reasons, case)


def _mine(news: NotificationContent) -> NextStep:
    return NextStep(_("See my selections"), f"{news.url}/mine")


def _found(news: NotificationContent) -> str:
    """Return the URL of the course's sections in the term's list."""
    return f"{news.url}?q={quote_plus(_code(news.data))}"


def _named(section: dict[str, Any]) -> str:
    return f"{_code(section)}-{section['number']}"


def _code(section: dict[str, Any]) -> str:
    return requisites.shown(section["code"])


TEXTS: dict[str, Callable[[NotificationContent], NotificationText]] = {
    PROMOTED.name: _promoted,
    PASSED_OVER.name: _passed_over,
    BY_HAND.name: _by_hand,
    CANCELED.name: _canceled,
    COREQUISITE_LOST.name: _corequisite_lost,
    CHANGED.name: _changed,
    PERMITTED.name: _permitted,
    HOLD.name: _hold,
    WINDOW_SOON.name: _window_soon,
    REQUEST_MADE.name: _request_made,
    REQUEST_DECIDED.name: _request_decided,
}
