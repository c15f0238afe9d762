"""The consent of a section's instructor."""

from portal.applications.approvals import Permit
from portal.applications.kind import Kind, reason_step
from portal.core.i18n import _l

KIND = Kind(
    name="consent",
    title=_l("Instructor’s consent"),
    intro=_l("Ask the instructor to let you register for a class that needs consent."),
    steps=(
        reason_step(
            _l("Why do you want to take this class?"),
            missing=_l("Explain why you want to take this class."),
        ),
    ),
    approval=Permit(
        lambda _application: ["consent"],
        _l("The student can register for the section. This does not give a seat."),
    ),
    stages=("instructor",),
)
