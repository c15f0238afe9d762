"""Admin adjustments: add, drop or move a student, with overrides of rules if the admin chooses."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from flask import Blueprint, abort, flash, render_template, request, url_for
from flask.typing import ResponseReturnValue
from wtforms import HiddenField, SelectField, SelectMultipleField, ValidationError

from portal.backend import backend
from portal.catalog import requisites
from portal.catalog.formatting import number
from portal.catalog.term_catalog import SectionView, TermCatalog, catalog_of
from portal.catalog.time_conflicts import pair_in_words, pairs
from portal.core.correlation import correlation
from portal.core.db import transaction
from portal.core.i18n import _, _l, _n
from portal.ledger.errors import KeyReused, LedgerUnavailable
from portal.ledger.types import Outcome, Reason, Registrations, SeatCounts
from portal.people import student_profile
from portal.people.student_profile import StudentProfile
from portal.people.student_records import find_by_number
from portal.recorder.models import Enrollment
from portal.registration import adjustments
from portal.registration.adjustments import Adjustment
from portal.registration.credits import credit_choices
from portal.registration.next_steps import RefusalContext, find_section, section_name
from portal.registration.reasons import NOT_OVERRIDABLE, OBSTACLES, explain
from portal.registration.seat_counts import reached_waitlists, reserved_left
from portal.web import drafts
from portal.web.drafts import Form as Sent
from portal.web.forms import Form, ReasonField, TextField
from portal.web.http.access import requires, visitor
from portal.web.http.layout import go
from portal.web.student.request_form import KEY, new_key

LONGEST = 60  # characters of a student's number or a section's name
OTHER_OBSTACLE = _l("A rule prevents this")

bp = Blueprint("adjust", __name__, url_prefix="/terms/<int:term_id>/adjust")


@dataclass(frozen=True)
class Target:
    """The student to adjust, and the sections to add and drop: one of them, or both to move."""

    catalog: TermCatalog
    student: StudentProfile
    add: SectionView | None
    drop: SectionView | None


class TargetForm(Form):
    """The number of the student, and the names of the sections to add and drop."""

    student = TextField(
        _l("Student number"),
        longest=LONGEST,
        missing=_l("Enter the student number."),
        description=_l("You find it on the student’s page."),
        render_kw={"spellcheck": "false"},
    )
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

    def validate_student(self, field: TextField) -> None:
        """Find the student. Raise ValidationError if no student has the number."""
        with transaction() as session:
            found = find_by_number(session, field.data)
        if found is None:
            raise ValidationError(_("No student has the number %(number)s.", number=field.data))
        self.found = student_profile.read(found)

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

    def validate(self, extra_validators: Any = None) -> bool:
        """Check the fields, and the two sections against each other."""
        super().validate(extra_validators)
        if not self.add.data and not self.drop.data:
            self.refuse(_("Enter a section to add, a section to drop, or both."), "add")
        if self.sections and self.sections.get("add") == self.sections.get("drop"):
            self.refuse(_("This is the section to drop. Enter another one."), "add")
        if self.found and not self.errors:
            add, drop = self.sections.get("add"), self.sections.get("drop")
            self.target = Target(self.catalog, self.found, add, drop)
        return not self.errors

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
@requires("admin")
def ask(term_id: int) -> ResponseReturnValue:
    """Render the form; once it is filled in (`look`), also the effects of the adjustment.

    After a refusal, render the reasons.
    """
    draft = drafts.shown_draft()
    sent = request.args if draft is None else draft
    form = TargetForm(sent, catalog_of(term_id))
    if (draft is None and "look" not in sent) or not form.validate():
        page = render_template("admin/adjustment_form.html", term=form.catalog.term, form=form)
        return page, 422 if form.errors else 200
    review = ReviewForm(sent, form.target)
    if draft is not None:
        review.validate()
    if draft and draft["refused"]:
        review.refuse(draft["refused"])
    return _review_page(form, review), 422 if review.errors else 200


@bp.post("")
@requires("admin")
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
            request=key,
            correlation=correlation(),
        )
    except KeyReused:
        message = _("This form was already sent with other choices. Check it and try again.")
        return drafts.show_draft(request.path, message)
    if decision.outcome == Outcome.REFUSED:
        message = _("Nothing was changed. A rule still prevents this.")
        return drafts.show_draft(request.path, message)
    flash(_result(target))
    for text in _new_clashes(target):
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
        backend().settings.zone,
        {held.section: held.credits for held in registrations.enrolled},
        instead=target.drop.id if target.add and target.drop else 0,
    )
    return render_template(
        "admin/adjustment.html",
        term=term,
        target=target,
        form=form,
        review=review,
        impossible=explain(adjustments.not_overridable(reasons), context),
        obstacles=obstacles_in_words(reasons, context),
        effects=list(_effects(target, registrations)),
        key=new_key(),
    )


def obstacles_in_words(
    reasons: Sequence[Reason], context: RefusalContext
) -> list[tuple[str, str, list[str]]]:
    """Return the codes that can be overridden, each with its label and texts for students."""
    found: dict[str, list[str]] = {}
    overridable = (each for each in reasons if each.code not in NOT_OVERRIDABLE)
    for each in explain(overridable, context):
        found.setdefault(each.code, []).append(each.text)
    return [
        (code, str(OBSTACLES.get(code, OTHER_OBSTACLE)), texts) for code, texts in found.items()
    ]


def _result(target: Target) -> str:
    """Return the result in words."""
    who, add, drop = target.student.name, target.add, target.drop
    if add and drop:
        names = {"old": section_name(drop), "name": section_name(add)}
        return _("%(who)s was moved from %(old)s to %(name)s.", who=who, **names)
    if add:
        return _("%(who)s was enrolled in %(name)s.", who=who, name=section_name(add))
    left = section_name(drop) if drop else ""
    return _("%(who)s was dropped from %(name)s.", who=who, name=left)


# The effects of an adjustment on students


def _effects(target: Target, registrations: Registrations) -> Iterator[str]:
    """Yield sentences about the consequences for students."""
    add, drop = target.add, target.drop
    pool = target.catalog.sharing(drop) if drop else []
    ids = {section.id for section in (add, drop, *pool) if section}
    counts = backend().ledger.seats_of(target.catalog.term.id, sorted(ids))
    if add and (seats := counts.get(add.id)):
        facts = {"taken": number(seats.taken), "capacity": number(seats.capacity)}
        name = section_name(add)
        yield _("%(name)s: %(taken)s of %(capacity)s seats are taken.", name=name, **facts)
        if seats.taken >= seats.capacity:
            more = seats.over + 1
            yield _("It would be over capacity by %(count)s. No one loses a seat.", count=more)
        if seats.waiting:
            yield _n(
                "%(num)s student on the waitlist would be passed by this one.",
                "%(num)s students on the waitlist would be passed by this one.",
                seats.waiting,
            )
    if add and add.id in {each.section for each in registrations.waiting}:
        yield _("The student gets the seat and leaves the waitlist.")
    if drop and drop.id in counts:
        yield _("The student is dropped from %(name)s.", name=section_name(drop))
        yield from _freed_seat(target, drop, _counts_after(target, drop, counts))
    yield _(
        "The student is notified at once, on the page and by email. Your reason is not"
        " shown to the student."
    )


def _counts_after(
    target: Target, drop: SectionView, counts: Mapping[int, SeatCounts]
) -> dict[int, SeatCounts]:
    """Return the seat counts, after the drop, of the section left and of its seat pool."""
    entered = target.add.id if target.add else 0
    pool = {drop.id, *(section.id for section in target.catalog.sharing(drop))}
    freed = entered not in pool  # otherwise as many shared seats are taken as before
    after = {
        seats.section: replace(
            seats,
            taken=seats.taken + (seats.section == entered) - (seats.section == drop.id),
            pool_taken=seats.pool_taken - freed,
        )
        for seats in (counts[section] for section in sorted(pool & counts.keys()))
    }
    if drop.reserves:
        after[drop.id] = replace(after[drop.id], kept=_reserved_after(target, drop))
    return after


def _reserved_after(target: Target, drop: SectionView) -> int:
    """Return the reserved seats left after the drop, which may free one of them."""
    held = Counter(backend().ledger.reserved(drop.term_id, drop.id))
    with transaction() as session:
        seat = session.get(Enrollment, (drop.term_id, drop.id, target.student.student))
        if seat and seat.reserve and seat.state == "enrolled":
            held[seat.reserve] -= 1
    return reserved_left(drop.reserves, held)


def _freed_seat(target: Target, drop: SectionView, after: dict[int, SeatCounts]) -> Iterator[str]:
    """Yield who gets the dropped seat, by the counts after the drop."""
    left = after.pop(drop.id)
    waitlists = reached_waitlists(left, after.values())
    if waitlists.keys() - {drop.id}:
        names = [section_name(each) for each in target.catalog.some(sorted(waitlists))]
        yield _(
            "The seat goes to the first eligible student on the waitlists of %(names)s.",
            names=requisites.any_of(names),
        )
    elif waitlists and waitlists[drop.id].open:
        yield _("The seat goes to the first eligible student on the waitlist.")
    elif waitlists:
        yield _(
            "The seat is reserved. It goes to the first student on the waitlist who may take it."
        )
    elif left.taken >= left.capacity:
        more = left.taken + 1 - left.capacity
        yield _(
            "The section is over capacity by %(count)s, so the seat is not assigned.", count=more
        )
    elif left.pool_capacity is not None and left.pool_taken >= left.pool_capacity:
        yield _("All shared seats are taken, so the seat is not assigned.")


def _new_clashes(target: Target) -> list[str]:
    """Return the clashes that the adjustment has made."""
    if not target.add:
        return []
    try:
        registrations = backend().ledger.registrations(
            target.catalog.term.id, target.student.student
        )
    except LedgerUnavailable:  # the student's page shows them as well
        return []
    return clashes(target.catalog, registrations, target.add.id)


# Also for the page of a student


def clashes(
    catalog: TermCatalog, registrations: Registrations, section: int | None = None
) -> list[str]:
    """Return which seats of a student clash; those of one section, if it is named."""
    held = catalog.some(each.section for each in registrations.enrolled)
    running = [each for each in held if each.status != "CANCELED"]
    return [
        pair_in_words(one, other)
        for one, other in pairs(running)
        if section is None or section in {one.id, other.id}
    ]
