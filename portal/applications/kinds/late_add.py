"""A seat after the selection window has ended or the last day to add has passed."""

from portal.applications.approvals import Adjust
from portal.applications.kind import Kind, Step, late
from portal.core.form_fields import NoteField
from portal.core.i18n import _l

KIND = Kind(
    name="late_add",
    title=_l("Late add"),
    intro=_l("Ask for a seat after your selection window or the last day to add has passed."),
    steps=(
        Step(
            "reason",
            _l("Your reason"),
            {
                "why": NoteField(
                    _l("Why do you need this class?"),
                    required=True,
                    missing=_l("Explain why you need this class."),
                ),
                "missed": NoteField(
                    _l("How will you catch up on what you missed?"),
                    description=_l("Leave it blank if classes have not begun."),
                ),
            },
        ),
    ),
    approval=Adjust(_l("The student gets a seat in the section at once.")),
    last_day=lambda term: late(term, 21, term.add_deadline),
    deadline="add_deadline",
    documents={"support": _l("Supporting letter or note")},
)
