"""A notice in words, the same in the inbox, in a toast and in a mail."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote_plus

from portal.backend import backend
from portal.catalog.board import board
from portal.notices.kinds import CANCELED, PASSED_OVER, PROMOTED, WINDOW_SOON
from portal.seats import trees
from portal.seats.answers import Reason
from portal.seats.case import Case, Step
from portal.seats.reasons import Told, told
from portal.windows.localtime import Clockface
from portal.words import _


@dataclass(frozen=True)
class News:
    """What a notice is about; `data` as it was made."""

    kind: str
    term: int
    section: int | None
    data: dict[str, Any]

    @property
    def name(self) -> str:
        """The section as people say it, such as CSC 1100-01."""
        return _named(self.data)

    @property
    def url(self) -> str:
        """The page of the term."""
        return f"/terms/{self.term}"


@dataclass(frozen=True)
class Words:
    """What has happened, what it means, and where to go next."""

    title: str
    text: tuple[str, ...]
    step: Step
    tone: str = ""


def words(news: News) -> Words:
    """The notice as its reader is told of it."""
    return TELLERS[news.kind](news)


def _promoted(news: News) -> Words:
    text = [_("A seat came free and it is yours. You are off the waitlist.")]
    if old := news.data.get("instead"):
        text.append(_("As you wished, your seat in %(name)s went for it.", name=_named(old)))
    title = _("You have a seat in %(name)s", name=news.name)
    return Words(title, tuple(text), _mine(news), "go")


def _passed_over(news: News) -> Words:
    reasons = _reasons(news)
    text = (*(each.text for each in reasons), _("You keep your place for the next one."))
    title = _("A seat in %(name)s came free, and could not be yours", name=news.name)
    steps = [each.step for each in reasons if each.step]
    return Words(title, text, steps[0] if steps else _mine(news), "wait")


def _canceled(news: News) -> Words:
    title = _("%(name)s has been canceled", name=news.name)
    about = {"title": news.data["title"]}
    if news.data["had"] == "seat":
        text = _("You had a seat in %(title)s. What else you have selected stays yours.", **about)
    else:
        text = _("You were on the waitlist of %(title)s. What else you have stays yours.", **about)
    find = Step(_("Find another section"), f"{news.url}?q={quote_plus(_code(news.data))}")
    return Words(title, (text,), find, "stop")


def _window_soon(news: News) -> Words:
    times = Clockface(backend().settings.zone)
    opens, closes = times.full(news.data["opens"]), times.full(news.data["closes"])
    title = _("Your selection window begins on %(when)s", when=opens)
    text = [
        _("It is open until %(when)s.", when=closes),
        _("Log in ahead of time: the page opens by itself."),
    ]
    if news.data["name"]:
        text.append(_("The window is called %(name)s.", name=news.data["name"]))
    return Words(title, tuple(text), Step(_("See the sections"), news.url), "wait")


def _reasons(news: News) -> list[Told]:
    reasons = [Reason(each["code"], each.get("facts") or {}) for each in news.data["reasons"]]
    try:
        offered = board(news.term)
    except LookupError:
        return []
    case = Case(offered, offered.card(news.section or 0), backend().settings.zone)
    return told(reasons, case)


def _mine(news: News) -> Step:
    return Step(_("See my selections"), f"{news.url}/mine")


def _named(section: dict[str, Any]) -> str:
    return f"{_code(section)}-{section['number']}"


def _code(section: dict[str, Any]) -> str:
    return trees.shown(section["code"])


TELLERS: dict[str, Callable[[News], Words]] = {
    PROMOTED.name: _promoted,
    PASSED_OVER.name: _passed_over,
    CANCELED.name: _canceled,
    WINDOW_SOON.name: _window_soon,
}
