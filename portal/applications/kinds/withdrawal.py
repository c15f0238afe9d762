"""Leave a class during the term; the student's record shows a W."""

from datetime import timedelta

from portal.applications.approvals import Adjust
from portal.applications.kind import Kind, reason_step
from portal.core.i18n import _l

KIND = Kind(
    name="withdrawal",
    title=_l("Withdrawal"),
    intro=_l("Ask to leave a class during the term. Your record then shows a W for it."),
    holds=True,
    steps=(
        reason_step(
            _l("Why do you have to leave the class?"),
            hint=_l("Only the registrar’s office reads it."),
            missing=_l("Explain why you have to leave the class."),
        ),
    ),
    approval=Adjust(
        _l("The student loses the seat at once, and the record shows a W."), drop=True, mark="W"
    ),
    last_day=lambda term: min(
        term.withdraw_deadline or term.ends_on - timedelta(days=14), term.ends_on
    ),
    deadline="drop_deadline",
    documents={"support": _l("Supporting letter or note")},
)
