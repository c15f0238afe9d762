"""Requests in words: the rules that they name, their states, and what stands in their way."""

from collections.abc import Iterable

from portal.core.i18n import _l

RULES = {
    "prerequisite": _l("Prerequisites"),
    "corequisite": _l("Courses to be taken along with it"),
    "restriction": _l("Restrictions to majors, years, levels and the like"),
    "not_for_you": _l("Courses that are not for everyone"),
    "time_conflict": _l("A clash of times"),
    "same_course": _l("Another section of the same course"),
    "credit_limit": _l("The limit of credits"),
}
STATES = {
    "open": _l("Open"),
    "approved": _l("Approved"),
    "declined": _l("Declined"),
    "withdrawn": _l("Withdrawn"),
}
TONES = {"open": "wait", "approved": "go", "declined": "stop", "withdrawn": ""}
REFUSED = {
    "canceled": _l("The section has been canceled, so nothing can be changed about it any more."),
    "enough": _l("The section has as many seats already, or more."),
    "asked": _l("This has been asked for already, and is still open."),
    "permitted": _l("The student is permitted this already."),
    "gone": _l("The student’s record has been closed."),
    "decided": _l("It has been decided already."),
    "not_yours": _l("Only who made a request can withdraw it."),
}


def rules(codes: Iterable[str]) -> str:
    """The rules of these codes, as a list in one line."""
    return "; ".join(str(RULES.get(code, code)) for code in codes)
