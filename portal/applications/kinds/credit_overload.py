"""Leave to go over the credit limit for one section: department, then registrar."""

from portal.applications.approvals import Permit
from portal.applications.kind import Kind, Step, reason_step
from portal.core.form_fields import NoteField
from portal.core.i18n import _l

KIND = Kind(
    name="credit_overload",
    title=_l("Credit overload"),
    intro=_l("Ask to take a class that puts you over your credit limit."),
    steps=(
        reason_step(
            _l("Why do you need this class this term?"),
            missing=_l("Explain why you need this class this term."),
        ),
        Step(
            "workload",
            _l("Your workload"),
            {
                "workload": NoteField(
                    _l("How will you manage the extra work?"),
                    description=_l("List your jobs and other commitments, with hours per week."),
                    required=True,
                    missing=_l("Explain how you will manage the work."),
                ),
            },
        ),
    ),
    approval=Permit(
        lambda _application: ["credit_limit"],
        _l("The student can register despite the credit limit. This does not give a seat."),
    ),
    stages=("department", "registrar"),
)
