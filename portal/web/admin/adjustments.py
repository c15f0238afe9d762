"""Admin adjustments: add, drop or move a student, with overrides of rules if the admin chooses."""

from decimal import Decimal
from typing import TYPE_CHECKING

from flask import Blueprint, abort, flash, render_template, request, url_for
from flask.typing import ResponseReturnValue
from wtforms import HiddenField, SelectField, SelectMultipleField, ValidationError

from portal.backend import backend
from portal.catalog.term_catalog import SectionView, TermCatalog, catalog_of
from portal.core.correlation import correlation
from portal.core.i18n import _, _l
from portal.ledger.errors import KeyReused
from portal.ledger.types import Outcome
from portal.people import student_profile
from portal.people.roles import Right
from portal.registration import adjustments
from portal.registration.adjustments import Adjustment
from portal.registration.credits import credit_choices
from portal.registration.next_steps import RefusalContext, find_section
from portal.registration.reasons import OBSTACLES, explain
from portal.reports.effects import adjustments as adjustment_effects
from portal.reports.effects.adjustments import Target
from portal.web import drafts
from portal.web.forms import Form, ReasonField, Sent, StudentField, TextField, render_form
from portal.web.http.access import requires, visitor
from portal.web.http.layout import go
from portal.web.student.request_form import KEY, new_key

if TYPE_CHECKING:
    from portal.people.student_profile import StudentProfile

LONGEST = 60  # characters of a section's name

bp = Blueprint("adjust", __name__, url_prefix="/terms/<int:term_id>/adjust")


class TargetForm(Form):
    """The number of the student, and the names of the sections to add and drop."""

    student = StudentField(description=_l("It is on the student’s page."))
    add = TextField(
        _l("Add to section"),
        required=False,
        longest=LONGEST,
        description=_l("CRN, or course and number such as CSC 1100-01."),
        render_kw={"spellcheck": "false"},
    )
    drop = TextField(
        _l("Drop from section"),
        required=False,
        longest=LONGEST,
        description=_l("Fill in both to move the student in one step."),
        render_kw={"spellcheck": "false"},
    )
    back = HiddenField()

    def __init__(self, sent: Sent, catalog: TermCatalog) -> None:
        super().__init__(sent)
        self.catalog = catalog
        self.found: StudentProfile | None = None
        self.sections: dict[str, SectionView] = {}  # by field

    def validate_student(self, field: StudentField) -> None:
        """Read the student's profile."""
        self.found = student_profile.read(field.found)

    def validate_add(self, field: TextField) -> None:
        """Find the section. Raise ValidationError if the term has none of this name."""
        if not field.data:
            return
        section = find_section(field.data, self.catalog)
        if section is None:
            facts = {"term": self.catalog.term.name, "text": field.data}
            message = _("%(term)s has no section with the CRN or number %(text)s.", **facts)
            raise ValidationError(message)
        self.sections[field.name] = section

    validate_drop = validate_add

    def check_together(self) -> None:
        """Check the two sections against each other."""
        if not self.add.data and not self.drop.data:
            self.refuse(_("Enter a section to add, a section to drop, or both."), "add")
        if self.sections and self.sections.get("add") == self.sections.get("drop"):
            self.refuse(_("This is the section to drop. Enter another one."), "add")
        if self.found and not self.errors:
            add, drop = self.sections.get("add"), self.sections.get("drop")
            self.target = Target(self.catalog, self.found, add, drop)

    def back_to(self, just: int | None = None) -> str:
        """Return the page that the admin came from: the section's, the student's, or the list.

        The section's page shows recorded data, so it also gets the student adjusted `just` now.
        """
        term = self.catalog.term.id
        section = self.sections.get("add") or self.sections.get("drop")
        if self.back.data == "section" and section:
            return url_for("admin.results.show", term_id=term, section_id=section.id, just=just)
        if self.found:
            return url_for("admin.students.show", student_id=self.found.student, term=term)
        return url_for("admin.sections.index", term_id=term)


class ReviewForm(Form):
    """What an admin adds on seeing the effects: overrides, credits if they vary, and a reason."""

    over = SelectMultipleField(validate_choice=False)  # codes of reasons to override
    credits = SelectField(_l("Credits"), validate_choice=False)
    reason = ReasonField()

    def __init__(self, sent: Sent, target: Target) -> None:
        super().__init__(sent)
        self.credits.choices = credit_choices(target.add) if target.add else []
        chosen = self.credits.data in self.credits.choices
        self.adjustment = Adjustment(
            target.catalog.term.id,
            target.student.student,
            add=target.add.id if target.add else None,
            drop=target.drop.id if target.drop else None,
            credits=Decimal(self.credits.data) if chosen else None,
            overrides=tuple(code for code in self.over.data or () if code in OBSTACLES),
        )


@bp.get("")
@requires(Right.ADJUST)
def ask(term_id: int) -> ResponseReturnValue:
    """Render the form; once it is filled in (`look`), also the effects of the adjustment.

    After a refusal, render the reasons.
    """
    draft = drafts.shown_draft()
    sent = request.args if draft is None else draft
    form = TargetForm(sent, catalog_of(term_id))
    if (draft is None and "look" not in sent) or not form.validate():
        return render_form("admin/adjustment_form.html", form, term=form.catalog.term)
    review = ReviewForm(sent, form.target)
    if draft is not None:
        review.validate()
    if draft and draft["refused"]:
        review.refuse(draft["refused"])
    return _review_page(form, review), 422 if review.errors else 200


@bp.post("")
@requires(Right.ADJUST)
def do(term_id: int) -> ResponseReturnValue:
    """Adjust in one step, or redirect to the page that shows the refusal."""
    form, key = TargetForm(request.form, catalog_of(term_id)), request.form.get("request", "")
    if not form.validate():
        return drafts.show_draft(request.path)
    target, review = form.target, ReviewForm(request.form, form.target)
    if not review.validate():
        return drafts.show_draft(request.path)
    if not KEY.fullmatch(key):
        abort(400)
    try:
        decision = adjustments.adjust(
            review.adjustment,
            why=review.reason.data,
            by=visitor().id,
            idempotency_key=key,
            correlation=correlation(),
        )
    except KeyReused:
        message = _("This form was already sent with other choices. Check it and try again.")
        return drafts.show_draft(request.path, message)
    if decision.outcome == Outcome.REFUSED:
        message = _("Nothing was changed. A rule still prevents this.")
        return drafts.show_draft(request.path, message)
    flash(adjustment_effects.outcome(target))
    for text in adjustment_effects.new_conflicts(target):
        flash(_("%(who)s is notified: %(what)s", who=target.student.name, what=text))
    return go(form.back_to(just=target.student.student))


def _review_page(form: TargetForm, review: ReviewForm) -> str:
    """Render the current effects, with a check box for each reason that can be overridden."""
    target, term = form.target, form.catalog.term
    registrations = backend().ledger.registrations(term.id, target.student.student)
    reasons = adjustments.preview(review.adjustment)
    context = RefusalContext(
        target.catalog,
        target.add or target.drop,
        held={held.section: held.credits for held in registrations.enrolled},
        swap_out=target.drop.id if target.add and target.drop else 0,
    )
    return render_template(
        "admin/adjustment.html",
        term=term,
        target=target,
        form=form,
        review=review,
        impossible=explain(adjustments.not_overridable(reasons), context),
        obstacles=adjustment_effects.obstacles_in_words(reasons, context),
        effects=list(adjustment_effects.effects(target, registrations)),
        key=new_key(),
    )
