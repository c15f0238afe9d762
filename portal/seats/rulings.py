"""Sentences about the rules between a student and a section, each with its next step."""

from typing import Any

from portal.catalog import requisites
from portal.catalog.time_conflicts import clash_in_words
from portal.core.i18n import _
from portal.seats import steps
from portal.seats.case import Case, Step, amount, credits_in_words
from portal.seats.restrictions import restriction as restriction_in_words

Facts = dict[str, Any]
Saying = tuple[str, Step | None]


def same_course(facts: Facts, case: Case) -> Saying:
    name = case.named(facts["section"])
    if facts.get("planned"):
        return _("Your plan has %(name)s too, another section of this course.", name=name), None
    text = _("You already have %(name)s, another section of this course.", name=name)
    return text, steps.clear(facts["section"], case)


def time_conflict(facts: Facts, case: Case) -> Saying:
    other = facts["section"]
    text = clash_in_words(case.card, case.catalog.section(other), case.named(other))
    return text, None if facts.get("planned") else steps.clear(other, case)


def credit_range(facts: Facts, case: Case) -> Saying:
    text = _(
        "%(name)s can be taken for %(least)s to %(most)s credits; choose an amount in between.",
        name=case.name,
        least=amount(facts["min"]),
        most=amount(facts["max"]),
    )
    return text, None


def credit_limit(facts: Facts, case: Case) -> Saying:
    total, limit = credits_in_words(facts["held"] + facts["adds"]), amount(facts["limit"])
    if facts.get("planned"):
        text = _(
            "With it, your plan comes to %(total)s, and your limit is %(limit)s.",
            total=total,
            limit=limit,
        )
        return text, None
    text = _(
        "It would bring you to %(total)s, and your limit is %(limit)s. You have %(held)s now.",
        total=total,
        limit=limit,
        held=amount(facts["held"]),
    )
    return text, steps.make_room(case)


def corequisite(facts: Facts, case: Case) -> Saying:
    offered = [code for course in facts["missing"] if (code := case.catalog.course_code(course))]
    if not offered:
        text = _("It needs another course in the same term that is not offered.")
        return text, steps.others(case, "corequisites")
    courses = requisites.any_of([requisites.shown(code) for code in offered])
    if facts.get("waiting"):
        text = _(
            "It needs a seat in %(courses)s: a place on that waitlist is not enough.",
            courses=courses,
        )
        return text, steps.find(offered[0], case)
    both = steps.together(facts["missing"], case)
    if both:
        return _("It is taken together with %(courses)s.", courses=courses), both
    text = _("It is taken together with %(courses)s: pick that first.", courses=courses)
    return text, steps.find(offered[0], case)


def corequisite_not_offered(facts: Facts, case: Case) -> Saying:
    text = _(
        "It is taken together with %(courses)s, not offered this term. Ask the department.",
        courses=requisites.describe(facts["missing"]),
    )
    return text, steps.others(case, "corequisites")


def needed_by(facts: Facts, case: Case) -> Saying:
    if facts.get("waiting"):
        return _needed_by_waiting(facts, case)
    lost = (case.catalog.course_code(course) for course in facts.get("missing", ()))
    courses = [requisites.shown(code) for code in lost if code]
    text = _(
        "%(name)s needs %(courses)s, which you would give up.",
        name=case.named(facts["section"]),
        courses=requisites.any_of(courses) or case.name,
    )
    return text, steps.cancel_both(facts["section"], case)


def not_partner(_facts: Facts, case: Case) -> Saying:
    text = _("%(name)s is not taken together with the others. Pick it by itself.", name=case.name)
    return text, steps.alone(case)


def _needed_by_waiting(facts: Facts, case: Case) -> Saying:
    """Why a waitlist is not left: a held section needs the course."""
    held = case.named(facts["section"])
    text = _(
        "%(held)s needs %(name)s, and you wait for that. You can leave only if you give up"
        " %(held)s too.",
        held=held,
        name=case.name,
    )
    return text, steps.leave_with([facts["section"]], case)


def together(facts: Facts, case: Case) -> Saying:
    name = case.named(facts["section"])
    return _("It is taken together with %(name)s, which can’t be yours now.", name=name), None


def prerequisite(facts: Facts, case: Case) -> Saying:
    courses = requisites.describe(facts["missing"])
    text = _("It needs %(courses)s, which your record does not show.", courses=courses)
    offered = [code for code in requisites.codes(facts["missing"]) if case.catalog.course_id(code)]
    found = steps.find(offered[0], case) if offered else steps.others(case, "prerequisites")
    return text, found


def restriction(facts: Facts, case: Case) -> Saying:
    return restriction_in_words(**facts), steps.others(case, "restrictions")


def hold(facts: Facts, _case: Case) -> Saying:
    return hold_in_words(facts), None


def hold_in_words(facts: Facts) -> str:
    """Say that there is a hold, why, and who lifts it."""
    return _(
        "There is a hold on your record: %(reason)s. Please see %(office)s to have it lifted.",
        reason=reason_of(facts),
        office=facts.get("office") or _("the registrar"),
    )


def reason_of(facts: Facts) -> str:
    """Why there is a hold, without a full stop."""
    return str(facts.get("reason") or facts.get("kind") or _("no reason given")).rstrip(".")


def not_for_you(_facts: Facts, case: Case) -> Saying:
    text = _("%(name)s is for other majors, levels or class years than yours.", name=case.name)
    return text, steps.back(case)


def student_unknown(_facts: Facts, _case: Case) -> Saying:
    return _("Your student record can’t be found. Please ask the registrar."), None
