"""Drop a seat after the selection window has ended or the last day to drop, without a mark."""

from portal.applications.approvals import Adjust
from portal.applications.kind import Kind, late, reason_step
from portal.core.i18n import _l

KIND = Kind(
    name="late_drop",
    title=_l("Late drop"),
    intro=_l(
        "Ask to drop a class after your selection window or the last day to drop has passed."
        " It does not show on your record."
    ),
    holds=True,
    steps=(
        reason_step(
            _l("Why could you not drop it in time?"),
            missing=_l("Explain why you could not drop it in time."),
        ),
    ),
    approval=Adjust(_l("The student loses the seat at once."), drop=True),
    last_day=lambda term: min(
        term.withdraw_deadline or late(term, 42, term.drop_deadline), term.ends_on
    ),
    deadline="drop_deadline",
    documents={"support": _l("Supporting letter or note")},
)
