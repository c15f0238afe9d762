"""A change of a term's rules in sentences: what differs, and whom it affects."""

from datetime import date, datetime

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session

from portal.backend import backend
from portal.catalog import formatting
from portal.core.i18n import _, _n
from portal.recorder.models import Enrollment, WaitlistEntry
from portal.registration.reasons import label
from portal.windows.deadlines import LABELS
from portal.windows.term_rules import TermRules


def changes(before: TermRules, after: TermRules) -> list[tuple[str, str]]:
    """Return the name of each rule with its value, or its old and its new value."""
    number = formatting.number
    pairs = [
        (_("Credit limit"), number(before.credit_limit), number(after.credit_limit)),
        (_("Drops per day"), number(before.drops_per_day), number(after.drops_per_day)),
        (_("Skipped students"), _skips(before), _skips(after)),
        *(
            (str(last_day), _day(before.deadlines[name]), _day(after.deadlines[name]))
            for name, last_day in LABELS.items()
        ),
    ]
    return [(name, new if old == new else f"{old} → {new}") for name, old, new in pairs]


def _day(deadline: date | None) -> str:
    return formatting.day(deadline, year=True) if deadline else _("none")


def _skips(rules: TermRules) -> str:
    if not rules.skip_limit:
        return _("keep their position")
    count = rules.skip_limit
    lost = _n("removed after %(count)s skip", "removed after %(count)s skips", count, count=count)
    reasons = ", ".join(label(code) for code in rules.skip_reasons)
    return f"{lost} ({reasons})" if reasons else lost


def meaning(session: Session, term: int, before: TermRules, wanted: TermRules) -> list[str]:
    """Return how many students and waitlist positions the change would affect now."""
    held = (
        select(Enrollment.student_id)
        .where(Enrollment.term_id == term, Enrollment.state == "enrolled")
        .group_by(Enrollment.student_id)
        .having(func.sum(Enrollment.credits) > int(wanted.credit_limit * 100))
    )
    waiting = _waits(term)
    beyond = session.scalar(select(func.count()).select_from(held.subquery())) or 0
    places = session.scalar(select(func.count()).select_from(WaitlistEntry).where(waiting)) or 0
    sentences = [_("The rules apply from now on. Students keep current seats.")]
    if _ends(before.add_deadline, wanted.add_deadline):
        sentences.append(_("The last day to add has passed, so waitlists stop at once."))
    if _ends(before.drop_deadline, wanted.drop_deadline):
        sentences.append(_("The last day to drop has passed, so students can’t drop any more."))
    if beyond:
        sentences.append(
            _n(
                "%(count)s student already has more credits than this limit.",
                "%(count)s students already have more credits than this limit.",
                beyond,
                count=formatting.number(beyond),
            )
        )
    affected = _n(
        "%(count)s waitlist position is affected.",
        "%(count)s waitlist positions are affected.",
        places,
        count=formatting.number(places),
    )
    return [*sentences, affected]


def _ends(before: date | None, wanted: date | None) -> bool:
    """Return whether a change of a deadline lets it pass now."""
    today = datetime.now(backend().settings.zone).date()
    passed = [day is not None and day < today for day in (before, wanted)]
    return passed == [False, True]


def waiting(session: Session, term: int) -> int:
    """Return how many waitlist positions there are in the term.

    A ledger that has lost its data counts none until it is restored; the read model still knows
    them. Raises LedgerUnavailable, as only the ledger knows the newest.
    """
    held = sum(each.waiting for each in backend().ledger.seats(term).values())
    recorded = select(func.count()).where(_waits(term))
    return max(held, session.scalars(recorded).one())


def _waits(term: int) -> ColumnElement[bool]:
    return (WaitlistEntry.term_id == term) & WaitlistEntry.state.in_(("waiting", "passed"))
