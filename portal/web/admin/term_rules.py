"""The rules of a term: a form, then the effects of a change."""

from contextlib import suppress
from hashlib import sha256
from typing import Any

from flask import Blueprint, abort, render_template, request, url_for
from flask.typing import ResponseReturnValue
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from portal.catalog import formatting
from portal.catalog.models import Term
from portal.core.db import transaction
from portal.core.i18n import _, _l, _n
from portal.recorder.models import Enrollment, WaitlistEntry
from portal.registration.reasons import SKIP_CODES, label
from portal.web.confirm import Confirmation, confirm, done
from portal.web.forms import (
    ChoicesField,
    DecimalField,
    Form,
    NumberField,
    OneOfField,
    ReasonForm,
)
from portal.web.http.access import requires, visitor
from portal.windows import term_rules
from portal.windows.term_rules import RulesChanged, TermRules

bp = Blueprint("term_rules", __name__, url_prefix="/terms/<int:term_id>/rules")

USUAL_SKIPS = 2


class RulesForm(Form):
    """The rules of a term."""

    credit_limit = DecimalField(
        _l("Credits"),
        most=100,
        description=_l("The maximum per student, unless the student’s record has another limit."),
    )
    drops_per_day = NumberField(
        _l("Drops per day"),
        most=1000,
        description=_l("How many seats a student can drop per day. Swaps don’t count."),
    )
    places = OneOfField(
        _l("If a waiting student can’t take a free seat"),
        missing=_l("Choose one from the list."),
        choices={
            "kept": _l("Skip the student, who keeps the position"),
            "lost": _l("Remove the student from the waitlist after several skips"),
        },
    )
    skip_limit = NumberField(
        _l("Skips until removal"),
        least=1,
        most=100,
        description=_l("The student is removed after this many skips."),
    )
    skip_reasons = ChoicesField(
        _l("Count only skips for these reasons (choose none to count all)"),
        choices=lambda: {code: label(code) for code in SKIP_CODES},
    )

    def validate(self, extra_validators: Any = None) -> bool:
        """Check every field; the number of skips only if it is used."""
        if self.places.data != "lost":
            self.skip_limit.raw_data, self.skip_limit.data = None, USUAL_SKIPS
        return bool(super().validate(extra_validators))

    @property
    def rules(self) -> TermRules:
        """Return the rules in the form, once it is valid."""
        fixed = self.credit_limit.data, self.drops_per_day.data
        if self.places.data != "lost":
            return TermRules(*fixed)
        return TermRules(*fixed, self.skip_limit.data, tuple(self.skip_reasons.data))


@bp.route("", methods=["GET", "POST"])
@requires("admin")
def edit(term_id: int) -> ResponseReturnValue:
    """Render the rules in a form, then the effects of new ones, then set them."""
    term = _term(term_id)
    before = term_rules.rules(term)
    if request.method == "GET" and "credit_limit" not in request.args:
        return _form(term, RulesForm(formdata=None, data=_fields(before))), 200
    form = RulesForm(request.values)
    if not form.validate():
        return _form(term, form), 422
    reason, mark = ReasonForm(), sha256(repr(before).encode()).hexdigest()[:16]

    def act(why: str) -> ResponseReturnValue | None:
        with suppress(RulesChanged):
            if request.form.get("seen", mark) == mark:
                term_rules.change(term_id, before, form.rules, visitor().id, why)
                done_text = _("Rules of %(term)s saved.", term=term.name)
                return done(done_text, url_for("admin.terms.index"))
        reason.refuse(
            _("Someone else has changed the rules. Nothing was saved. Check them and try again.")
        )
        return None

    with transaction() as session:
        meaning = _meaning(session, term_id, form.rules)
    page = Confirmation(
        title=_("Save these rules?"),
        button=_("Save rules"),
        back=(url_for("admin.term_rules.edit", term_id=term_id), _("Rules")),
        facts=[(_("Term"), term.name), *_changes(before, form.rules)],
        meaning=meaning,
        seen={**_fields(form.rules), "seen": mark},
    )
    return confirm(page, act, reason)


def _term(term_id: int) -> Term:
    with transaction() as session:
        term = session.get(Term, term_id)
    return abort(404) if term is None or term.deleted_at else term


def _form(term: Term, form: RulesForm) -> str:
    return render_template("admin/rules.html", term=term, form=form)


def _fields(rules: TermRules) -> dict[str, Any]:
    """Return the rules as the form's values."""
    return {
        "credit_limit": rules.credit_limit,
        "drops_per_day": rules.drops_per_day,
        "places": "lost" if rules.skip_limit else "kept",
        "skip_limit": rules.skip_limit or USUAL_SKIPS,
        "skip_reasons": list(rules.skip_reasons),
    }


def _changes(before: TermRules, after: TermRules) -> list[tuple[str, str]]:
    number = formatting.number
    pairs = [
        (_("Credits"), number(before.credit_limit), number(after.credit_limit)),
        (_("Drops per day"), number(before.drops_per_day), number(after.drops_per_day)),
        (_("Skipped students"), _skips(before), _skips(after)),
    ]
    return [(name, new if old == new else f"{old} → {new}") for name, old, new in pairs]


def _skips(rules: TermRules) -> str:
    if not rules.skip_limit:
        return _("kept")
    count = rules.skip_limit
    lost = _n("removed after %(count)s skip", "removed after %(count)s skips", count, count=count)
    reasons = ", ".join(label(code) for code in rules.skip_reasons)
    return f"{lost} ({reasons})" if reasons else lost


def _meaning(session: Session, term: int, wanted: TermRules) -> list[str]:
    """Return how many students and waitlist positions the rules would affect now."""
    held = (
        select(Enrollment.student_id)
        .where(Enrollment.term_id == term, Enrollment.state == "enrolled")
        .group_by(Enrollment.student_id)
        .having(func.sum(Enrollment.credits) > int(wanted.credit_limit * 100))
    )
    waiting = (WaitlistEntry.term_id == term) & WaitlistEntry.state.in_(("waiting", "passed"))
    beyond = session.scalar(select(func.count()).select_from(held.subquery())) or 0
    places = session.scalar(select(func.count()).select_from(WaitlistEntry).where(waiting)) or 0
    sentences = [_("The rules apply from now on. Students keep current seats.")]
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
