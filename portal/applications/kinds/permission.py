"""Leave to register past named rules of a section."""

from portal.applications.approvals import Permit
from portal.applications.kind import Kind, Step, reason_step
from portal.core.form_fields import ChoicesField
from portal.core.i18n import _l
from portal.registration.reasons import REASONS

# More credits and the instructor's consent are kinds of their own, which others decide.
RULES = {
    code: each.permission
    for code, each in REASONS.items()
    if each.permission and not each.application_to_add
}

KIND = Kind(
    name="permission",
    title=_l("Permission to register despite a rule"),
    intro=_l(
        "Ask to register for a class even though a rule, such as a prerequisite, prevents it."
    ),
    steps=(
        Step(
            "rules",
            _l("The rules"),
            {
                "waives": ChoicesField(
                    _l("Rules that should not apply to you"),
                    choices=RULES,
                    missing=_l("Choose at least one rule."),
                ),
            },
        ),
        reason_step(
            _l("Why are you ready for this class?"),
            missing=_l("Explain why you are ready for this class."),
        ),
    ),
    approval=Permit(
        lambda application: application.answers["waives"],
        _l("The student can register despite these rules. This does not give a seat."),
    ),
    documents={"record": _l("Transcript or certificate")},
)
