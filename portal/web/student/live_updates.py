"""Live updates of a student's own pages."""

from collections.abc import Iterable, Sequence
from typing import Any

from markupsafe import Markup

from portal.core.i18n import _
from portal.ledger.types import Reason
from portal.live.rendering import StudentFragments
from portal.recorder import odds
from portal.registration.credits import hundredths
from portal.registration.reasons import explain
from portal.web.student import fragments
from portal.web.student.student_term import StudentTerm, student_term

NOTHING = StudentFragments("", frozenset())


def render_student(  # noqa: PLR0913  what a page shows, and what happened
    term: int,
    student: int,
    *,
    sections: Iterable[int] = (),
    refused: Iterable[int] = (),
    events: Sequence[dict[str, Any]] = (),
    panel_version: str = "",
    shown: Iterable[int] = (),
) -> StudentFragments:
    """Render the panel, the cells that may have changed, and messages about events.

    These are the cells of the student's seats, of `sections`, in which they may have had one, of
    `refused` sections, and of `shown` ones that a seat rules out or ruled out before the change.
    The result is empty if the page is up to date.
    """
    try:
        now = student_term(term, student)
    except LookupError:
        return NOTHING
    if not events and panel_version == now.mark:
        return StudentFragments("", frozenset(now.positions))
    odds.refresh_freed_seats(term)
    changed = set(sections)
    own = {*changed, *refused, *now.held, *now.positions}
    others = now.catalog.some(section for section in shown if section not in own)
    gone = now.catalog.some(changed.difference(now.held))
    at_most = [(each, hundredths(each.credits_max)) for each in gone]
    before = now.precheck.without(changed).with_seats(at_most)
    touched = {
        each.id for each in others if now.precheck.against_seats(each) or before.against_seats(each)
    }
    parts = [
        fragments.mine(now),
        fragments.bar(now),
        fragments.attention(now.term.id, now.attention),
        *(fragments.act(now, section) for section in sorted(own | touched)),
        *(TOASTS[each["name"]](now, each) for each in events if each["name"] in TOASTS),
    ]
    return StudentFragments(str(Markup().join(parts)), frozenset(now.positions))


def _promoted(now: StudentTerm, event: dict[str, Any]) -> Markup:
    name = now.case(None).named(event["section"])
    text = _("A seat opened and you got it. You are no longer on the waitlist.")
    if event.get("instead"):
        old = now.case(None).named(event["instead"])
        text = _("A seat opened and you got it, in exchange for your seat in %(old)s.", old=old)
    title = _("You got a seat in %(name)s", name=name)
    return fragments.toast(title, text, "go", about=event["section"])


def _skipped(now: StudentTerm, event: dict[str, Any]) -> Markup:
    """Explain why the student was skipped, and the next steps."""
    section = event["section"]
    case = now.case_in_line(section)
    reasons = [Reason(each["code"], each.get("facts") or {}) for each in event.get("reasons", ())]
    why = explain(reasons, case)
    position = (
        _("You lost your waitlist position, as the rules of this term say.")
        if event.get("lost")
        else _("You keep your waitlist position. You can get a seat again once this is resolved.")
    )
    text = " ".join([*(each.text for each in why), position])
    title = _("A seat opened in %(name)s, but you couldn’t get it", name=case.named(section))
    steps = [each.step for each in why if each.step]
    return fragments.toast(title, text, "wait", about=section, steps=steps)


TOASTS = {"promoted": _promoted, "passed_over": _skipped}
