"""What a student's open pages are sent when something happens to the student."""

from collections.abc import Iterable
from typing import Any

from markupsafe import Markup

from portal.live.own import Own
from portal.seats.answers import Reason
from portal.seats.reasons import told
from portal.student import fragments
from portal.student.scene import Scene, scene

NOTHING = Own("", frozenset())


def draw(
    term: int, student: int, sections: Iterable[int], moments: list[dict[str, Any]], mark: str
) -> Own:
    """The panel, the cells of `sections` and of all that is held, and what happened, in words.

    Nothing if nothing happened and the panel of that mark is right.
    """
    try:
        now = scene(term, student)
    except LookupError:
        return NOTHING
    if not moments and mark == now.mark:
        return Own("", frozenset(now.places))
    cells = sorted({*sections, *now.held, *now.places})
    parts = [
        fragments.mine(now),
        fragments.bar(now),
        *(fragments.act(now, section) for section in cells),
        *(_told(now, moment) for moment in moments),
    ]
    return Own(str(Markup().join(parts)), frozenset(now.places))


def _told(now: Scene, event: dict[str, Any]) -> Markup:
    section = event["section"]
    case = now.case(now.board.card(section))
    if event["name"] == "promoted":
        text = "A seat came free and it is yours. You are off the waitlist."
        return fragments.toast(f"You have a seat in {case.name}", text, "go", about=section)
    reasons = [Reason(each["code"], each.get("facts") or {}) for each in event.get("reasons", ())]
    why = " ".join(each.text for each in told(reasons, case))
    title = f"A seat in {case.name} came free, and could not be yours"
    text = f"{why} You keep your place for the next one."
    return fragments.toast(title, text, "wait", about=section)
