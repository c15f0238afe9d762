"""Refusals in plain words: what is wrong, and the next step as a link where there is one."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import quote_plus
from zoneinfo import ZoneInfo

from portal.seats import trees
from portal.seats.answers import Reason
from portal.seats.restrictions import restriction

if TYPE_CHECKING:
    from portal.catalog.board import Board, Card


@dataclass(frozen=True)
class Step:
    """What the student can do next: the words of a link and where it leads."""

    label: str
    url: str

    @property
    def asks(self) -> bool:
        """Whether it leads to a form that asks first, and so fits into a dialog."""
        return self.url.endswith(("/pick", "/drop", "/leave"))


@dataclass(frozen=True)
class Told:
    """A reason as a student reads it; `code` stays for those who test or count it."""

    code: str
    text: str
    step: Step | None = None


@dataclass(frozen=True)
class Case:
    """What a refusal was about, so that ids can be told as names."""

    board: "Board"
    card: "Card | None"
    zone: ZoneInfo

    @property
    def term_url(self) -> str:
        return f"/terms/{self.board.term.id}"

    @property
    def name(self) -> str:
        return self.named(self.card.id) if self.card else "this section"

    def named(self, section: int) -> str:
        """A section as people say it, such as CSC 1100-01."""
        card = self.board.card(section)
        return f"{trees.shown(card.course_code)}-{card.number}" if card else f"section {section}"

    def url(self, section: int, act: str) -> str:
        return f"{self.term_url}/sections/{section}/{act}"

    def search(self, words: str, *, free: bool = False) -> str:
        """The list, searched for words, and for open seats alone where `free`."""
        return f"{self.term_url}?q={quote_plus(words)}{'&open=1' if free else ''}"

    def when(self, ms: int) -> str:
        """A moment in the institution's zone: "9:00 am on Thursday, September 3"."""
        at = datetime.fromtimestamp(ms / 1000, self.zone)
        return f"{at:%-I:%M} {at:%p}".lower() + f" on {at:%A, %B} {at.day}"


Teller = Callable[[dict[str, Any], Case], tuple[str, Step | None]]


def told(reasons: tuple[Reason, ...] | list[Reason], case: Case) -> list[Told]:
    """Each reason with its sentence and next step, in the order given."""
    return [Told(reason.code, *_TELLERS[reason.code](reason.facts, case)) for reason in reasons]


def _window_unscheduled(_: dict[str, Any], case: Case) -> tuple[str, Step | None]:
    text = "No selection window is scheduled for you in this term."
    return text, Step("Browse the sections", case.term_url)


def _window_before(facts: dict[str, Any], case: Case) -> tuple[str, Step | None]:
    text = f"Selection has not begun. It opens at {case.when(facts['opens'])}."
    return text, Step("See the countdown", case.term_url)


def _window_ended(facts: dict[str, Any], case: Case) -> tuple[str, Step | None]:
    text = f"Selection ended at {case.when(facts['closes'])}."
    return text, _mine(case)


def _section_unknown(_: dict[str, Any], case: Case) -> tuple[str, Step | None]:
    return "This section is not offered any more.", Step("Back to the sections", case.term_url)


def _section_new(_: dict[str, Any], case: Case) -> tuple[str, Step | None]:
    return f"{case.name} has not been published yet.", _others(case)


def _section_confirmed(_: dict[str, Any], case: Case) -> tuple[str, Step | None]:
    return f"{case.name} is confirmed: its class list is closed.", _others(case)


def _section_canceled(_: dict[str, Any], case: Case) -> tuple[str, Step | None]:
    return f"{case.name} has been canceled.", _others(case)


def _already_enrolled(_: dict[str, Any], case: Case) -> tuple[str, Step | None]:
    return f"You already have this: {case.name} is among your selections.", _mine(case)


def _already_waiting(facts: dict[str, Any], case: Case) -> tuple[str, Step | None]:
    place = f", at place {facts['position']}" if facts.get("position") else ""
    return f"You are already on the waitlist of {case.name}{place}.", _mine(case)


def _same_course(facts: dict[str, Any], case: Case) -> tuple[str, Step | None]:
    name = case.named(facts["section"])
    text = f"You already have {name}, another section of this course."
    return text, Step(f"Cancel {name}", case.url(facts["section"], "drop"))


def _time_conflict(facts: dict[str, Any], case: Case) -> tuple[str, Step | None]:
    name = case.named(facts["section"])
    other = case.board.card(facts["section"])
    times = [f"{meeting.days} {meeting.times}" for meeting in other.meetings] if other else []
    when = f" ({', '.join(times)})" if times else ""
    text = f"It meets at the same time as your {name}{when}."
    return text, Step(f"Cancel {name}", case.url(facts["section"], "drop"))


def _credit_range(facts: dict[str, Any], case: Case) -> tuple[str, Step | None]:
    low, high = points(facts["min"]), points(facts["max"])
    text = f"{case.name} can be taken for {low} to {high} credits; choose an amount in between."
    return text, None


def _credit_limit(facts: dict[str, Any], case: Case) -> tuple[str, Step | None]:
    total = points(facts["held"] + facts["adds"])
    text = (
        f"It would bring you to {total} credits, and your limit is {points(facts['limit'])}. "
        f"You have {points(facts['held'])} now."
    )
    return text, Step("Make room", _mine(case).url)


def _corequisite(facts: dict[str, Any], case: Case) -> tuple[str, Step | None]:
    names = [case.board.course_code(course) for course in facts["missing"]]
    shown = [trees.shown(name) for name in names if name]
    if not shown:
        return "It needs another course in the same term that is not offered.", _others(case)
    text = f"It is taken together with {trees.listed(shown, 'or')}: pick that first."
    return text, Step(f"Find {shown[0]}", case.search(shown[0]))


def _corequisite_not_offered(facts: dict[str, Any], case: Case) -> tuple[str, Step | None]:
    needed = trees.words(facts["missing"])
    text = f"It is taken together with {needed}, not offered this term. Ask the department."
    return text, _others(case)


def _full(facts: dict[str, Any], case: Case) -> tuple[str, Step | None]:
    waiting = facts.get("waiting", 0)
    text = f"The last seat of {case.name} is gone. {waiting} on the waitlist."
    step = Step("Join the waitlist", case.url(case.card.id, "pick")) if case.card else None
    return text, step


def _waitlist_full(facts: dict[str, Any], case: Case) -> tuple[str, Step | None]:
    size = facts.get("waitlist_capacity", 0)
    full = f"its waitlist of {size} is full as well" if size else "it keeps no waitlist"
    return f"{case.name} is full and {full}.", _others(case)


def _prerequisite(facts: dict[str, Any], case: Case) -> tuple[str, Step | None]:
    needed = trees.words(facts["missing"])
    first = trees.shown(next(trees.codes(facts["missing"])))
    text = f"You need to have passed {needed}, and your record does not show it."
    return text, Step(f"Find {first}", case.search(first))


def _restriction(facts: dict[str, Any], case: Case) -> tuple[str, Step | None]:
    return restriction(**facts), _others(case)


def _hold(facts: dict[str, Any], _: Case) -> tuple[str, Step | None]:
    office = facts.get("office") or "the registrar"
    reason = str(facts.get("reason") or facts.get("kind") or "no reason given").rstrip(".")
    return f"There is a hold on your record: {reason}. Please see {office} to have it lifted.", None


def _not_for_you(_: dict[str, Any], case: Case) -> tuple[str, Step | None]:
    text = f"{case.name} is for other majors, levels or class years than yours."
    return text, Step("Back to the sections", case.term_url)


def _not_enrolled(_: dict[str, Any], case: Case) -> tuple[str, Step | None]:
    return f"{case.name} is not among your selections (any more).", _mine(case)


def _drop_limit(facts: dict[str, Any], case: Case) -> tuple[str, Step | None]:
    text = (
        f"You have used your {facts['limit']} cancellations of today. "
        f"You can cancel again from {case.when(facts['resets'])}."
    )
    return text, _mine(case)


def _not_waiting(_: dict[str, Any], case: Case) -> tuple[str, Step | None]:
    return f"You are not on the waitlist of {case.name} (any more).", _mine(case)


def points(hundredths: int) -> str:
    """Credits as people write them: 400 is "4", 150 is "1.5"."""
    return f"{hundredths / 100:.2f}".rstrip("0").rstrip(".")


def _mine(case: Case) -> Step:
    return Step("See my selections", f"{case.term_url}/mine")


def _others(case: Case) -> Step:
    if case.card is None:
        return Step("Back to the sections", case.term_url)
    code = trees.shown(case.card.course_code)
    return Step(f"Other sections of {code}", case.search(code, free=True))


_TELLERS: dict[str, Teller] = {
    "window_unscheduled": _window_unscheduled,
    "window_before": _window_before,
    "window_ended": _window_ended,
    "section_unknown": _section_unknown,
    "section_new": _section_new,
    "section_confirmed": _section_confirmed,
    "section_canceled": _section_canceled,
    "already_enrolled": _already_enrolled,
    "already_waiting": _already_waiting,
    "same_course": _same_course,
    "time_conflict": _time_conflict,
    "credit_range": _credit_range,
    "credit_limit": _credit_limit,
    "corequisite": _corequisite,
    "corequisite_not_offered": _corequisite_not_offered,
    "full": _full,
    "waitlist_full": _waitlist_full,
    "prerequisite": _prerequisite,
    "restriction": _restriction,
    "hold": _hold,
    "not_for_you": _not_for_you,
    "not_enrolled": _not_enrolled,
    "drop_limit": _drop_limit,
    "not_waiting": _not_waiting,
}
