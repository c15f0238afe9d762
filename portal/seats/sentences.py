"""A sentence for each code of refusal, and the next step where there is one."""

from collections.abc import Callable

from portal.core.i18n import _, _n
from portal.seats import keeping, rulings, steps
from portal.seats.case import Case, Step
from portal.seats.rulings import Facts, Saying

Teller = Callable[[Facts, Case], Saying]


def _window_unscheduled(_facts: Facts, case: Case) -> Saying:
    text = _("No selection window is scheduled for you in this term.")
    return text, Step(_("Browse the sections"), case.term_url)


def _window_before(facts: Facts, case: Case) -> Saying:
    text = _("Selection has not begun. It opens at %(time)s.", time=case.when(facts["opens"]))
    return text, Step(_("See the countdown"), case.term_url)


def _window_ended(facts: Facts, case: Case) -> Saying:
    text = _("Selection ended at %(time)s.", time=case.when(facts["closes"]))
    return text, steps.mine(case)


def _section_unknown(_facts: Facts, case: Case) -> Saying:
    return _("This section is not offered any more."), steps.back(case)


def _section_new(_facts: Facts, case: Case) -> Saying:
    return _("%(name)s has not been published yet.", name=case.name), steps.others(case)


def _section_confirmed(_facts: Facts, case: Case) -> Saying:
    text = _("%(name)s is confirmed: its roster is closed.", name=case.name)
    return text, steps.others(case)


def _section_canceled(_facts: Facts, case: Case) -> Saying:
    return _("%(name)s has been canceled.", name=case.name), steps.others(case)


def _already_enrolled(_facts: Facts, case: Case) -> Saying:
    text = _("You already have this: %(name)s is among your selections.", name=case.name)
    return text, steps.mine(case)


def _already_waiting(facts: Facts, case: Case) -> Saying:
    place = facts.get("position")
    if place:
        text = _(
            "You are already on the waitlist of %(name)s, at place %(place)s.",
            name=case.name,
            place=place,
        )
    else:
        text = _("You are already on the waitlist of %(name)s.", name=case.name)
    return text, steps.mine(case)


def _full(facts: Facts, case: Case) -> Saying:
    waiting, size = facts.get("waiting", 0), facts.get("waitlist_capacity", 0)
    step = steps.wait(case) if waiting < size else steps.others(case)
    if kept := keeping.all_left(facts, case):
        return kept, step
    if not waiting:
        text = _("The last seat of %(name)s is gone. Nobody waits for one yet.", name=case.name)
        return text, step
    text = _n(
        "The last seat of %(name)s is gone. %(num)s student is on the waitlist.",
        "The last seat of %(name)s is gone. %(num)s students are on the waitlist.",
        waiting,
        name=case.name,
    )
    return text, step


def _waitlist_full(facts: Facts, case: Case) -> Saying:
    size = facts.get("waitlist_capacity", 0)
    if kept := keeping.all_left(facts, case):
        full = _("Its waitlist is full.") if size else _("It keeps no waitlist.")
        return f"{kept} {full}", steps.others(case)
    if size:
        text = _(
            "%(name)s is full and its waitlist of %(size)s is full as well.",
            name=case.name,
            size=size,
        )
    else:
        text = _("%(name)s is full and it keeps no waitlist.", name=case.name)
    return text, steps.others(case)


def _not_enrolled(facts: Facts, case: Case) -> Saying:
    name = case.named(facts["section"]) if "section" in facts else case.name
    return _("%(name)s is not among your selections (any more).", name=name), steps.mine(case)


def _drop_limit(facts: Facts, case: Case) -> Saying:
    if facts.get("left"):
        text = _(
            "This counts as %(drops)s cancellations, and you have %(left)s left today."
            " You can cancel again from %(time)s.",
            drops=facts["drops"],
            left=facts["left"],
            time=case.when(facts["resets"]),
        )
        return text, steps.mine(case)
    text = _n(
        "You have used your %(num)s cancellation of today. You can cancel again from %(time)s.",
        "You have used your %(num)s cancellations of today. You can cancel again from %(time)s.",
        facts["limit"],
        time=case.when(facts["resets"]),
    )
    return text, steps.mine(case)


def _not_waiting(_facts: Facts, case: Case) -> Saying:
    text = _("You are not on the waitlist of %(name)s (any more).", name=case.name)
    return text, steps.mine(case)


def unknown(_facts: Facts, case: Case) -> Saying:
    """For a code that has no sentence here, such as one of a newer release."""
    text = _("%(name)s can’t be yours just now. Please ask the registrar.", name=case.name)
    return text, steps.mine(case)


SENTENCES: dict[str, Teller] = {
    each.__name__.removeprefix("_"): each
    for each in (
        _window_unscheduled,
        _window_before,
        _window_ended,
        _section_unknown,
        _section_new,
        _section_confirmed,
        _section_canceled,
        _already_enrolled,
        _already_waiting,
        rulings.same_course,
        rulings.time_conflict,
        rulings.credit_range,
        rulings.credit_limit,
        rulings.corequisite,
        rulings.corequisite_not_offered,
        rulings.needed_by,
        rulings.not_partner,
        rulings.together,
        _full,
        _waitlist_full,
        rulings.prerequisite,
        rulings.restriction,
        rulings.hold,
        rulings.not_for_you,
        _not_enrolled,
        _drop_limit,
        _not_waiting,
        rulings.student_unknown,
    )
}
