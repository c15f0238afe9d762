"""Terms: created, also as a copy; edited, published, archived; windows copied from another term."""

from contextlib import suppress
from dataclasses import replace
from datetime import date
from hashlib import sha256
from typing import Any

from flask import Blueprint, abort, render_template, request, url_for
from flask.typing import ResponseReturnValue
from itsdangerous import BadSignature, URLSafeSerializer

from portal.backend import backend
from portal.catalog import cohort_names, requisites, terms
from portal.catalog.deletion import InTheWay
from portal.catalog.formatting import day
from portal.catalog.local_time import LocalClock, local_clock
from portal.catalog.models import Term
from portal.catalog.term_catalog import catalog_of, expire, live_terms, term_label
from portal.catalog.terms import DeadlineAfterTerm, NameTaken, TermDetails
from portal.core.db import ChangedMeanwhile, transaction
from portal.core.i18n import _, _l, _n
from portal.exchange import term_names
from portal.exchange.importing.edits import note_copies
from portal.exchange.term_names import ImportPending
from portal.ledger.errors import LedgerUnavailable, WindowRefused
from portal.people.roles import Right
from portal.recorder import read_with_fallback
from portal.reports.effects import term_rules as effects
from portal.web.admin.sections import names_of_unread
from portal.web.admin.term_rules import FIRST_COME
from portal.web.admin.terms import term_or_404
from portal.web.admin.windows import REFUSED
from portal.web.confirm import (
    CHANGED,
    Confirmation,
    NotPossible,
    Wording,
    confirm,
    done,
)
from portal.web.forms import DateField, Form, ReasonField, SelectOneField, TextField, render_form
from portal.web.http.access import requires, visitor
from portal.windows import bands, service, term_rules
from portal.windows.service import NewWindow
from portal.windows.warmup import warm_up

bp = Blueprint("term_editing", __name__, url_prefix="/terms")

LONGEST_NAME = 80
YEARS = range(1970, 2200)  # another one is mistyped
WITH_PLANNED_END = _l("%(name)s was closed early. Its copy has the end that was planned.")
AS_SHORT = _l(
    "%(name)s was closed early, and the audit trail does not have its planned end. The copy is as"
    " short as the window was. Extend it once it is scheduled."
)
NO_DATE = _l("Enter a date such as 2030-08-26.")
TAKEN = _l("Another term has this name, or a deleted one had it. Choose another name.")


class TermForm(Form):
    rows = (("starts_on", "ends_on"),)

    name = TextField(
        _l("Name"),
        longest=LONGEST_NAME,
        missing=_l("Give the term a name."),
        description=_l("Such as “Fall 2026”. Files that you import must use the same name."),
    )
    starts_on = DateField(_l("First day"), invalid_value_message=NO_DATE)
    ends_on = DateField(_l("Last day"), invalid_value_message=NO_DATE)

    def check_together(self) -> None:
        """Check the dates, and that the last day is not before the first."""
        if not self.errors and not self.name.data.isprintable():
            self.refuse(_("Use letters, digits and visible symbols only."), "name")
        for field in (self.starts_on, self.ends_on):
            if not field.errors and (field.data is None or field.data.year not in YEARS):
                self.refuse(NO_DATE, field.name)
        if not self.errors and self.ends_on.data <= self.starts_on.data:
            self.refuse(_("The last day must be after the first."), "ends_on")

    @property
    def details(self) -> TermDetails:
        """Return the details in the form, once it is valid."""
        return TermDetails(self.name.data, self.starts_on.data, self.ends_on.data)


class SourceForm(Form):
    """The term whose windows are copied."""

    source = SelectOneField(_l("Copy windows from"), missing=_l("Choose a term."))

    def offer(self, target: Term) -> None:
        """Offer the other terms that have windows."""
        others = [each for each in live_terms() if each.id != target.id and not each.practice]
        self.source.offer(
            {
                str(each.id): term_label(each)
                for each in others
                if read_with_fallback.windows(each.id)
            }
        )


class NewTermForm(TermForm):
    source = SelectOneField(
        _l("Copy from"),
        choices=lambda: (
            {"": _l("No term: begin without sections")}
            | {str(each.id): term_label(each) for each in live_terms() if not each.practice}
        ),
        description=_l(
            "Copies rules, deadlines and sections with their meetings, instructors,"
            " requirements and reserved seats. Students, windows and canceled sections are not"
            " copied."
        ),
    )
    reason = ReasonField()


CHANGES = {
    "publish": Wording(
        _l("Publish the term"),
        _l(
            "Once you publish it, students and instructors see it at once. Students register in"
            " its windows."
        ),
        _l("%(term)s is published."),
    ),
    "unpublish": Wording(
        _l("Unpublish the term"),
        _l(
            "If you unpublish it, students and instructors can’t see it until you publish it again."
        ),
        _l("%(term)s is a draft again."),
        danger=True,
    ),
    "archive": Wording(
        _l("Archive the term"),
        _l(
            "If you archive it, it disappears from lists of terms. Students keep its schedule and"
            " receipts, and you can bring it back."
        ),
        _l("%(term)s is archived."),
    ),
    "reopen": Wording(
        _l("Bring the term back"),
        _l("The term comes back into the lists of terms."),
        _l("%(term)s is back in lists of terms."),
    ),
}


@bp.app_template_filter()
def term_state(state: str) -> str:
    """Return the label of the state of a term."""
    return str(terms.STATES[state])


@bp.get("/<int:term_id>")
@requires(Right.SEE_TERMS)
def term(term_id: int) -> ResponseReturnValue:
    """Render a term with everything that can be done with it."""
    found = term_or_404(term_id)
    changes = [name for name, each in terms.STATE_CHANGES.items() if each.of == found.state]
    days = [day(each, year=True) for each in (found.starts_on, found.ends_on)]
    current = term_rules.rules(found)
    groups = bands.rule(found.bands) or str(FIRST_COME)
    rules = [*effects.changes(current, current), (_("Waitlist groups"), groups)]
    context = {"days": days, "changes": changes, "wordings": CHANGES, "rules": rules}
    return render_template("admin/term.html", term=found, **context)


@bp.route("/new", methods=["GET", "POST"])
@requires(Right.CHANGE_TERMS)
def new() -> ResponseReturnValue:
    """Create a draft of a term, with copies of the sections of another if wanted."""
    form = NewTermForm()

    def act(reason: str) -> ResponseReturnValue | None:
        source = int(form.source.data) if form.source.data else None
        try:
            made = terms.create(form.details, source, visitor().id, reason)
        except NameTaken:
            form.refuse(TAKEN, "name")
            return None
        if source:
            with transaction() as session:
                note_copies(session, form.details.name)
        with suppress(LedgerUnavailable):  # else the scheduler does it later
            warm_up(made)
        text = _("%(term)s is created. Only admins can see it yet.", term=form.name.data)
        return done(text, url_for(".term", term_id=made))

    page = Confirmation(
        title=_("New term"),
        button=_("Create term"),
        back=(url_for("admin.terms.index"), _("Windows")),
        meaning=[_("The term is a draft: students can’t see it until you publish it.")],
    )
    return confirm(page, act, form)


@bp.route("/<int:term_id>/edit", methods=["GET", "POST"])
@requires(Right.CHANGE_TERMS)
def edit(term_id: int) -> ResponseReturnValue:
    """Change the name and the dates of a term."""
    found = term_or_404(term_id)
    before = terms.details(found)
    form = TermForm(data=vars(before))

    def act(_reason: str) -> str | None:
        try:
            seen = TermDetails(
                request.form["was_name"],
                date.fromisoformat(request.form["was_starts"]),
                date.fromisoformat(request.form["was_ends"]),
            )
        except ValueError:
            abort(400)
        try:
            with transaction() as session:
                changed = terms.edit(session, term_id, seen, form.details, visitor().id)
                if changed and seen.name != form.details.name:
                    term_names.rename(session, "term", seen.name, form.details.name)
        except NameTaken:
            form.refuse(TAKEN, "name")
            return None
        except DeadlineAfterTerm as error:
            text = _(
                "A deadline of this term is on %(day)s. Choose a last day that is not before it, or"
                " change the deadline under Rules first.",
                day=day(error.day, year=True),
            )
            form.refuse(text, "ends_on")
            return None
        except ImportPending as error:
            raise NotPossible(
                _("You can’t rename a term while an import is in progress or waits for review.")
            ) from error
        expire(term_id)
        return _("%(term)s is saved.", term=form.name.data)

    page = Confirmation(
        title=_("Edit %(term)s", term=found.name),
        button=_("Save"),
        back=(url_for(".term", term_id=term_id), found.name),
        meaning=[_("Sections, windows and deadlines keep their own dates.")],
        first_seen={
            "was_name": before.name,
            "was_starts": before.starts_on,
            "was_ends": before.ends_on,
        },
    )
    return confirm(page, act, form)


@bp.route(f"/<int:term_id>/<any({','.join(CHANGES)}):state_change>", methods=["GET", "POST"])
@requires(Right.CHANGE_TERMS)
def change_state(term_id: int, state_change: str) -> ResponseReturnValue:
    """Publish or archive a term, or undo that, once it is confirmed."""
    found, wording = term_or_404(term_id), CHANGES[state_change]

    def act(reason: str) -> str:
        try:
            terms.change_state(term_id, state_change, visitor().id, reason)
        except InTheWay as way:
            why = _("You can’t do this while the term has these: %(names)s.", names=way)
            raise NotPossible(why) from way
        expire(term_id)
        return str(wording.done) % {"term": found.name}

    fits = found.state == terms.STATE_CHANGES[state_change].of
    page = wording.page(
        (url_for(".term", term_id=term_id), found.name),
        facts=[(_("Term"), found.name)],
        refusal="" if fits else str(CHANGED),
    )
    if state_change == "publish":
        page = replace(page, meaning=[*_unread_drafts(term_id), *page.meaning])
    return confirm(page, act)


def _unread_drafts(term_id: int) -> list[str]:
    """Return a sentence that names the drafts with values that an import could not read."""
    drafts = {
        each.id: f"{requisites.shown(each.course_code)}-{each.number}"
        for each in catalog_of(term_id).sections
        if each.status == "NEW"
    }
    with transaction() as session:
        return names_of_unread(session, drafts)


@bp.route("/<int:term_id>/windows/copy", methods=["GET", "POST"])
@requires(Right.CHANGE_WINDOWS)
def copy_windows(term_id: int) -> ResponseReturnValue:
    """Choose a term, show its windows moved to this one, then schedule them."""
    target = term_or_404(term_id)
    if target.state == "archived":
        abort(404)
    back = url_for(".term", term_id=term_id), target.name
    form = SourceForm(request.values)
    form.offer(target)
    if "source" not in request.values or not form.validate():
        return render_form("admin/windows_copy.html", form, term=target, back=back)
    source, clock, now = term_or_404(int(form.source.data)), local_clock(), read_with_fallback.now()
    weeks = terms.moved_by(source, target)
    windows = read_with_fallback.windows(source.id)
    with transaction() as session:
        planned = service.planned_ends(session, source.id)
    copied = service.copies(windows, planned, weeks, clock, now)
    new = list(copied.values())
    shown = [term_id, source.id, sha256(repr(new).encode()).hexdigest()[:16]]

    def act(reason: str) -> ResponseReturnValue:
        _schedule(term_id, dict(zip(_numbers_for(shown), new, strict=True)), reason)
        text = _n("%(num)s window is scheduled.", "%(num)s windows are scheduled.", len(new))
        return done(text, url_for("admin.terms.index"))

    ended = [each for each in windows if each.state == "closed" and each.id in copied]
    copying = Confirmation(
        title=_("Copy windows"),
        button=_("Schedule these windows"),
        back=back,
        facts=[
            (_("From"), source.name),
            (_("To"), target.name),
            *((each.name, _in_words(each, clock)) for each in new),
        ],
        meaning=[
            _(
                "Each window keeps its weekday, its time and its students. Its date moves with"
                " the first day of the term."
            ),
            *(
                str(WITH_PLANNED_END if each.id in planned else AS_SHORT) % {"name": each.name}
                for each in ended
            ),
            *(
                [_("This term already has windows. They stay as they are.")]
                if read_with_fallback.windows(term_id)
                else []
            ),
        ],
        seen={"source": source.id},
        first_seen={"plan": _signer().dumps([shown, [service.new_id() for _each in new]])},
        refusal="" if new else _("No window of this term would begin in the future."),
    )
    return confirm(copying, act)


def _numbers_for(shown: list[Any]) -> list[int]:
    """Return the numbers of the new windows from the form, which is for what was shown.

    They are signed, so that a form can't invent the number of a window. Raise ChangedMeanwhile.
    """
    try:
        seen, numbers = _signer().loads(request.form.get("plan", ""))
    except BadSignature:
        abort(400)
    if seen != shown:
        raise ChangedMeanwhile
    return list(numbers)


def _schedule(term_id: int, windows: dict[int, NewWindow], reason: str) -> None:
    """Schedule windows by their numbers. Raise NotPossible, naming the one that can't be."""
    for number, window in windows.items():
        try:
            service.schedule(term_id, number, window, visitor().id, reason)
        except WindowRefused as refusal:
            raise NotPossible(f"{window.name}: {REFUSED[refusal.code]}") from refusal


def _signer() -> URLSafeSerializer:
    return URLSafeSerializer(backend().settings.signing_keys, salt="fairseat copied windows")


def _in_words(window: NewWindow, clock: LocalClock) -> str:
    times = f"{clock.full(window.opens)} – {clock.full(window.closes)}"
    return f"{times} · {cohort_names.describe(window.cohort)}"
