"""The rules of a term: a form, then the effects of a change."""

from contextlib import suppress
from hashlib import sha256
from typing import Any

from flask import Blueprint, abort, render_template, request, url_for
from flask.typing import ResponseReturnValue

from portal.catalog.models import Term
from portal.core.db import transaction
from portal.core.i18n import _, _l
from portal.registration.reasons import SKIP_CODES, label
from portal.reports.effects import term_rules as effects
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
        meaning = effects.meaning(session, term_id, form.rules)
    page = Confirmation(
        title=_("Save these rules?"),
        button=_("Save rules"),
        back=(url_for("admin.term_rules.edit", term_id=term_id), _("Rules")),
        facts=[(_("Term"), term.name), *effects.changes(before, form.rules)],
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
