"""Seats that are kept for cohorts, as anybody may read of them."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from portal.core.i18n import _, _n
from portal.recorder.events import milliseconds
from portal.seats.case import Case
from portal.windows import cohorts

if TYPE_CHECKING:
    from portal.catalog.views import ReserveView


def whom(reserve: "ReserveView", when: Callable[[int], str]) -> str:
    """For whom, and until when in the words of `when` (of ms): "Senior students until 9:00 am"."""
    told = cohorts.whom(reserve.cohort)
    if reserve.until is None:
        return told
    return _("%(whom)s until %(time)s", whom=told, time=when(milliseconds(reserve.until)))


def all_left(facts: dict[str, Any], case: Case) -> str:
    """That the seats which are left are kept, and for whom; blank where none are."""
    if not facts.get("kept"):
        return ""
    known = case.card.reserves if case.card else ()
    keepers = [each for each in known if each.id in facts.get("kept_for", ())]
    return _n(
        "The %(num)s seat of %(name)s that is left is kept for %(whom)s.",
        "The %(num)s seats of %(name)s that are left are kept for %(whom)s.",
        facts["kept"],
        name=case.name,
        whom="; ".join(whom(each, case.when) for each in keepers) or _("others"),
    )


def given(reserve: int, case: Case) -> str:
    """That a seat was given from a reserve, which may be no more."""
    known = case.card.reserves if case.card else ()
    found = next((each for each in known if each.id == reserve), None)
    whom_ = cohorts.whom(found.cohort) if found else _("a cohort")
    return _("It is one of the seats kept for %(whom)s.", whom=whom_)
