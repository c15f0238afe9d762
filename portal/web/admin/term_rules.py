"""The rules of a term: a form, then the effects of a change."""

from contextlib import suppress
from dataclasses import asdict
from hashlib import sha256
from typing import Any

from flask import Blueprint, request, url_for
from flask.typing import ResponseReturnValue
from wtforms import Field, ValidationError
from wtforms.validators import Optional

from portal.catalog import formatting
from portal.catalog.models import Term
from portal.catalog.spellings import Unclear
from portal.catalog.term_fields import TERM_RULES, TermRule, TermRules
from portal.core.db import ChangedMeanwhile, transaction
from portal.core.i18n import _, _l, _n
from portal.people.roles import Right
from portal.registration.reasons import SKIP_CODES, label
from portal.reports.effects import term_rules as effects
from portal.web.admin.terms import term_or_404
from portal.web.confirm import Confirmation, NotPossible, confirm, done
from portal.web.forms import (
    ChoicesField,
    DateField,
    DecimalField,
    Form,
    NoteField,
    NumberField,
    OneOfField,
    ReasonForm,
    render_form,
)
from portal.web.http.access import requires, visitor
from portal.windows import bands, term_rules
from portal.windows.bands import Band
from portal.windows.service import EARLY
from portal.windows.term_rules import RulesChanged

bp = Blueprint("term_rules", __name__, url_prefix="/terms/<int:term_id>/rules")

USUAL_SKIPS = 2
FIRST_COME = _l("Waitlists are first come, first served.")


class RulesForm(Form):
    """A field for each of TERM_RULES, and the question whether skips cost a position."""

    places = OneOfField(
        _l("If a waiting student can’t take a free seat"),
        missing=_l("Choose one from the list."),
        choices={
            "kept": _l("Skip the student, who keeps the position"),
            "lost": _l("Remove the student from the waitlist after several skips"),
        },
    )
    term: Term

    def part(self, name: str) -> list[Field]:
        """Return the fields of a part of the form."""
        return [self[each.name] for each in TERM_RULES.values() if each.part == name]

    def validate(self, extra_validators: Any = None) -> bool:
        """Check every field; the number of skips only if it is used."""
        if self.places.data != "lost":
            self.skip_limit.raw_data, self.skip_limit.data = None, USUAL_SKIPS
        return super().validate(extra_validators)

    def check_together(self) -> None:
        """Refuse a date far from the term, and one before an earlier deadline."""
        latest = None
        for field in self.part("deadlines"):
            name, day = field.name, field.data
            if day and not self.term.starts_on - EARLY <= day <= self.term.ends_on:
                first, last = self.term.starts_on - EARLY, self.term.ends_on
                self.refuse(
                    _(
                        "Enter a day from %(first)s to %(last)s.",
                        first=formatting.day(first, year=True),
                        last=formatting.day(last, year=True),
                    ),
                    name,
                )
            elif day and latest and day < latest:
                self.refuse(_("This day must not be before the one above."), name)
            latest = day or latest

    @property
    def rules(self) -> TermRules:
        """Return the rules in the form, once it is valid."""
        values = {name: self[name].data for name in TERM_RULES}
        lost = {"skip_reasons": tuple(self.skip_reasons.data)}
        kept = {"skip_limit": None, "skip_reasons": ()}
        return TermRules(**values | (lost if self.places.data == "lost" else kept))


def rule_field(rule: TermRule) -> Any:
    """Return the form field for a rule."""
    known = {"label": rule.question or rule.label, "description": rule.hint}
    match rule.kind:
        case "day":
            wrong = _l("Enter a date such as 2030-08-26, or leave it blank.")
            return DateField(validators=[Optional()], invalid_value_message=wrong, **known)
        case "reasons":
            return ChoicesField(choices=_skip_reasons, chips=True, **known)
    # If students can lose a position, the form must say after how many skips.
    required = not rule.optional or rule.part == "skips"
    number = DecimalField if rule.kind == "credits" else NumberField
    return number(least=rule.least, most=rule.most, required=required, **known)


def _skip_reasons() -> dict[str, str]:
    return {code: label(code) for code in SKIP_CODES}


for _each in TERM_RULES.values():
    setattr(RulesForm, _each.name, rule_field(_each))


@bp.route("", methods=["GET", "POST"])
@requires(Right.CHANGE_TERMS)
def edit(term_id: int) -> ResponseReturnValue:
    """Render the rules in a form, then the effects of new ones, then set them."""
    term = term_or_404(term_id)
    before = term_rules.rules(term)
    if request.method == "GET" and "credit_limit" not in request.args:
        return _form(term, RulesForm(formdata=None, data=_fields(before)))
    form = RulesForm(request.values)
    form.term = term
    if not form.validate():
        return _form(term, form)
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
        meaning = effects.meaning(session, term_id, before, form.rules)
    page = Confirmation(
        title=_("Save these rules?"),
        button=_("Save rules"),
        back=(url_for("admin.term_rules.edit", term_id=term_id), _("Rules")),
        facts=[(_("Term"), term.name), *effects.changes(before, form.rules)],
        meaning=meaning,
        seen={**_fields(form.rules), "seen": mark},
    )
    return confirm(page, act, reason)


class BandsForm(Form):
    """The bands of a term's waitlists, a line each."""

    bands = NoteField(
        _l("Waitlist groups"),
        description=_l(
            "One group per line, first group first. For example: “year: Senior”. Join conditions"
            " with a semicolon: “level: Graduate; major: CSC, MAT”. Everyone else comes last."
            " Leave blank for first come, first served."
        ),
        longest=2 * bands.LONGEST,
        render_kw={"rows": 6, "spellcheck": "false"},
    )

    wanted: list[Band]

    def validate_bands(self, field: NoteField) -> None:
        """Read the bands. Raise ValidationError if a line is unclear."""
        try:
            with transaction() as session:
                self.wanted = bands.parse(session, field.data)
        except Unclear as unclear:
            raise ValidationError(str(unclear)) from unclear


@bp.route("/bands", methods=["GET", "POST"])
@requires(Right.CHANGE_TERMS)
def edit_bands(term_id: int) -> ResponseReturnValue:
    """Render the bands in a form, then what students will read, then set them."""
    term = term_or_404(term_id)
    before = term.bands
    if request.method == "GET" and "bands" not in request.args:
        return _bands_form(term, BandsForm(formdata=None, data={"bands": bands.write(before)}))
    form = BandsForm(request.values)
    if not form.validate():
        return _bands_form(term, form)
    wanted, seen = form.wanted, bands.write(before)

    def act(why: str) -> ResponseReturnValue:
        if request.form.get("seen", "") != seen and wanted != before:
            raise ChangedMeanwhile
        try:
            bands.change(term_id, (before, wanted), visitor().id, why, waiting=effects.waiting)
        except bands.PeopleWait as waits:
            raise NotPossible(_people_wait(waits.positions)) from None
        return done(
            _("Waitlist groups of %(term)s saved.", term=term.name), url_for("admin.terms.index")
        )

    with transaction() as session:
        positions = effects.waiting(session, term_id)
    page = Confirmation(
        title=_("Save these groups?"),
        button=_("Save groups"),
        back=(url_for("admin.term_rules.edit_bands", term_id=term_id), _("Waitlist groups")),
        facts=[
            (_("Term"), term.name),
            (_("Now"), bands.rule(before) or str(FIRST_COME)),
            (_("From now on"), bands.rule(wanted) or str(FIRST_COME)),
        ],
        meaning=[
            _(
                "Students read this before they join a waitlist, with their own group. A"
                " student’s group is fixed on joining. While students wait, the groups can’t"
                " change."
            )
        ],
        seen={"bands": form.bands.data, "seen": seen},
        refusal=_people_wait(positions) if positions and wanted != before else "",
    )
    return confirm(page, act)


def _people_wait(positions: int) -> str:
    return _n(
        "A student is on a waitlist of this term under the current order. You can change the"
        " groups once no one is waiting.",
        "Students have %(count)s waitlist positions in this term under the current order. You"
        " can change the groups once no one is waiting.",
        positions,
        count=formatting.number(positions),
    )


def _bands_form(term: Term, form: BandsForm) -> ResponseReturnValue:
    with transaction() as session:
        conditions = bands.conditions(session)
    rule = bands.rule(term.bands) or FIRST_COME
    return render_form("admin/bands.html", form, term=term, rule=rule, conditions=conditions)


def _form(term: Term, form: RulesForm) -> ResponseReturnValue:
    rule = bands.rule(term.bands) or FIRST_COME
    return render_form("admin/rules.html", form, term=term, rule=rule)


def _fields(rules: TermRules) -> dict[str, Any]:
    """Return the rules as the form's values."""
    return asdict(rules) | {
        "places": "lost" if rules.skip_limit else "kept",
        "skip_limit": rules.skip_limit or USUAL_SKIPS,
        "skip_reasons": list(rules.skip_reasons),
    }
