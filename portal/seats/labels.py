"""The reasons of refusals in few words, for those who count or list them."""

from portal.core.i18n import _l

LABELS = {
    "window_unscheduled": _l("No window is scheduled"),
    "window_before": _l("Too early: the window has not begun"),
    "window_ended": _l("Too late: the window has ended"),
    "section_unknown": _l("No such section"),
    "section_new": _l("Section not published"),
    "section_confirmed": _l("Section already confirmed"),
    "section_canceled": _l("Section canceled"),
    "already_enrolled": _l("Has the seat already"),
    "already_waiting": _l("Waits already"),
    "same_course": _l("Has another section of the course"),
    "time_conflict": _l("Time conflict"),
    "credit_range": _l("Credits out of range"),
    "credit_limit": _l("Over the credit limit"),
    "corequisite": _l("Corequisite missing"),
    "corequisite_not_offered": _l("Corequisite not offered"),
    "needed_by": _l("Needed by another seat"),
    "together": _l("Its partner could not be had"),
    "not_partner": _l("Asked for together, but no corequisite"),
    "full": _l("Full"),
    "waitlist_full": _l("Waitlist full"),
    "prerequisite": _l("Prerequisite missing"),
    "restriction": _l("Restricted to others"),
    "hold": _l("Hold on the account"),
    "not_for_you": _l("Course not shown to the student"),
    "not_enrolled": _l("Drop of a seat not held"),
    "drop_limit": _l("Drops of the day used up"),
    "not_waiting": _l("Not on the waitlist"),
    "student_unknown": _l("No such student"),
}


def label(code: str) -> str:
    """What a reason is called; one that we don't know stands as it is."""
    return str(LABELS.get(code, code))
