"""A sentence for each code of refusal, and the next step where there is one."""

from collections.abc import Callable
from typing import Any

from portal.seats import trees
from portal.seats.case import Case, Step, points
from portal.seats.clashes import clash_in_words
from portal.seats.restrictions import restriction

Teller = Callable[[dict[str, Any], Case], tuple[str, Step | None]]


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
    text = clash_in_words(case.card, case.board.card(facts["section"]), name)
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
    offered = [name for name in names if name]
    if not offered:
        return "It needs another course in the same term that is not offered.", _others(case)
    together = trees.listed([trees.shown(name) for name in offered], "or")
    return f"It is taken together with {together}: pick that first.", _find(offered[0], case)


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
    text = f"It needs {needed}, which your record does not show."
    offered = [code for code in trees.codes(facts["missing"]) if case.board.course_id(code)]
    return text, _find(offered[0], case) if offered else _others(case)


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


def _mine(case: Case) -> Step:
    return Step("See my selections", f"{case.term_url}/mine")


def _find(code: str, case: Case) -> Step:
    return Step(f"Find {trees.shown(code)}", case.search(trees.shown(code)))


def _others(case: Case) -> Step:
    siblings = case.board.sections_of(case.card.course_id) if case.card else []
    if case.card and any(each.status == "OPEN" and each != case.card for each in siblings):
        code = trees.shown(case.card.course_code)
        return Step(f"Other sections of {code}", case.search(code, free=True))
    return Step("Back to the sections", case.term_url)


def unknown(_: dict[str, Any], case: Case) -> tuple[str, Step | None]:
    """For a code that has no sentence here, such as one of a newer release."""
    return f"{case.name} can’t be yours just now. Please ask the registrar.", _mine(case)


SENTENCES: dict[str, Teller] = {
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
