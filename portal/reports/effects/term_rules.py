"""A change of a term's rules in sentences: what differs, and whom it affects."""

from datetime import date, datetime

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session

from portal.backend import backend
from portal.catalog import formatting
from portal.catalog.term_fields import TERM_RULES, TermRules
from portal.core.i18n import _, _n
from portal.recorder.models import Enrollment, WaitlistEntry
from portal.registration.reasons import label as reason_label


def changes(before: TermRules, after: TermRules) -> list[tuple[str, str]]:
    """Return the name of each rule with its value, or its old and its new value."""
    labels = {name: each.label for name, each in TERM_RULES.items() if name != "skip_reasons"}
    labels["skip_limit"] = _("Skipped students")  # with the reasons
    pairs = [
        (str(label), _in_words(before, name), _in_words(after, name))
        for name, label in labels.items()
    ]
    return [(label, new if old == new else f"{old} → {new}") for label, old, new in pairs]


def _in_words(rules: TermRules, name: str) -> str:
    match getattr(rules, name):
        case _ if name == "skip_limit":
            return _skips(rules)
        case None:
            return _("none")
        case date() as day:
            return formatting.day(day, year=True)
        case number:
            return formatting.number(number)


def _skips(rules: TermRules) -> str:
    if not rules.skip_limit:
        return _("keep their position")
    count = rules.skip_limit
    lost = _n("removed after %(count)s skip", "removed after %(count)s skips", count, count=count)
    reasons = ", ".join(reason_label(code) for code in rules.skip_reasons)
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
