"""Pages to import files: upload them, review the changes, apply them."""

from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, BinaryIO, cast

from flask import Blueprint, abort, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from flask_wtf.file import MultipleFileField
from redis.exceptions import RedisError
from sqlalchemy.exc import InterfaceError, OperationalError
from sqlalchemy.orm import Session
from werkzeug.exceptions import RequestEntityTooLarge
from wtforms import BooleanField, ValidationError
from wtforms.validators import Optional

from portal.catalog.term_catalog import live_terms
from portal.core.db import transaction
from portal.core.i18n import _, _l, _n, current_locale, translated
from portal.core.sorting import Sorting
from portal.exchange.exporting import export_jobs
from portal.exchange.importing import (
    columns,
    enrollments,
    files,
    import_jobs,
    review,
    runs,
    statuses,
    steps,
)
from portal.exchange.importing.files import MOST_SENT, File, bare_name, has_files
from portal.exchange.importing.findings import ACTIONS
from portal.exchange.importing.import_jobs import ProgressStep, step_of
from portal.exchange.importing.models import LAYOUTS, Import, Options
from portal.exchange.importing.named_term import LONGEST_NAME
from portal.exchange.importing.report import LATE, LEFT, report_rows, summary
from portal.exchange.importing.statuses import StatusEdit
from portal.exchange.importing.steps import STEPS
from portal.exchange.importing.upserts import count_changes, count_notified
from portal.people.models import Account
from portal.people.roles import Right
from portal.reports.effects import sections as effects
from portal.reports.effects import students
from portal.reports.effects.students import AffectedStudent
from portal.web.confirm import Confirmation, NotPossible, confirm, done
from portal.web.forms import DateField, Form, NumberField, OneOfField, TextField, render_form
from portal.web.http.access import requires, visitor
from portal.web.http.downloads import download
from portal.web.http.layout import go
from portal.web.http.uploads import MOST_BYTES, takes_files

bp = Blueprint("imports", __name__, url_prefix="/imports")
USUAL = Options()
NAME_THE_TERM = _l("Enter a term name of at most %(most)s characters.")
FIRST_DAY = _l("Enter the first day as a date such as 2026-08-31.")
LAST_DAY = _l("Enter the last day as a date such as 2026-08-31.")
DAY_OF_TERM: dict[str, Any] = {
    "description": _l("Leave blank to use the dates of the meetings."),
    "invalid_value_message": _l("Enter a date such as 2026-08-31, or leave it blank."),
}
OPTIONAL_NUMBER: dict[str, Any] = {
    "required": False,
    "message": _l("Enter a whole number from 0 to %(most)s."),
}


class TermDatesForm(Form):
    """The dates of a term whose files have none."""

    starts = DateField(_l("First day"), invalid_value_message=FIRST_DAY)
    ends = DateField(_l("Last day"), invalid_value_message=LAST_DAY)

    def check_together(self) -> None:
        """Check that both are dates, the first before the last."""
        for each, missing in ((self.starts, FIRST_DAY), (self.ends, LAST_DAY)):
            if each.data is None and not each.errors:
                self.refuse(missing, each.short_name)
        if not self.errors and self.ends.data < self.starts.data:
            self.refuse(_("The last day is before the first day."), "ends")


class ImportForm(Form):
    """The files of an import and its options."""

    layout = OneOfField(
        _l("File format"),
        choices={
            "semester": _l(
                "Semester: one class schedule, or sections, meetings, courses and optional files"
            ),
            "oneroster": _l("OneRoster 1.1 or 1.2: people, classes, instructors and enrollments"),
        },
        missing=_l("Choose the file format."),
    )
    files = MultipleFileField(
        _l("Files"),
        description=_l(
            "One zip, or all files together: CSV, Excel or OpenDocument. 64 MB at most."
        ),
        render_kw={"accept": ".zip,.csv,.txt,.tsv,.json,.xlsx,.ods", "required": True},
    )
    term = TextField(
        _l("Term"),
        longest=LONGEST_NAME,
        missing=NAME_THE_TERM,
        too_long=NAME_THE_TERM,
        description=_l("A new name, such as “Fall 2026”, or the name of a term to update."),
    )
    starts = DateField(_l("First day of the term"), [Optional()], **DAY_OF_TERM)
    ends = DateField(_l("Last day of the term"), [Optional()], **DAY_OF_TERM)
    waitlist = NumberField(
        _l("Waitlist capacity"),
        most=10_000,
        default=USUAL.waitlist,
        description=_l("Used if the files don’t set one."),
        **OPTIONAL_NUMBER,
    )
    credit_limit = NumberField(
        _l("Credit limit per student"),
        most=200,
        default=USUAL.credit_limit,
        description=_l("Only for a new term."),
        **OPTIONAL_NUMBER,
    )
    past = BooleanField(
        _l(
            "Enroll students even if a rule or the capacity would refuse them (the lists"
            " were decided elsewhere)"
        )
    )
    remove = BooleanField(
        _l(
            "Remove records that these files no longer contain: people from earlier files,"
            " enrollments in the listed classes. Empty sections are canceled."
        )
    )

    erase = BooleanField(
        _l("Delete existing values where these files have blank cells or missing rows"),
        description=_l("Missing columns and files change nothing."),
    )

    def validate_files(self, _field: MultipleFileField) -> None:
        """Raise ValidationError if there are no files, too many, or two of one name."""
        names = [name for name, _stream in self.contents]
        if not names:
            raise ValidationError(_("Choose a zip or the files."))
        if len(names) > MOST_SENT:
            raise ValidationError(_("Choose at most %(most)s files, or one zip.", most=MOST_SENT))
        if len(set(names)) < len(names):
            raise ValidationError(_("Two files have the same name. Rename one of them."))

    def validate_term(self, field: TextField) -> None:
        """Raise ValidationError if the name has characters that can't be shown."""
        if not field.data.isprintable():
            raise ValidationError(str(NAME_THE_TERM) % {"most": LONGEST_NAME})

    def check_together(self) -> None:
        """Take back errors of the fields of a semester if the files describe none."""
        if self.layout.data == "oneroster":
            for name in ("term", "starts", "ends", "waitlist", "credit_limit"):
                self[name].errors = ()

    @property
    def contents(self) -> list[File]:
        """Return the files under their base names."""
        return [
            (bare_name(each.filename), cast("BinaryIO", each.stream))
            for each in self.files.data or ()
        ]

    @property
    def options(self) -> Options:
        """Return the options of a valid form; a blank number means the usual one."""
        usual = {"update": True, "remove": self.remove.data}
        if self.layout.data == "oneroster":
            return Options(layout="oneroster", past=self.past.data, **usual)
        numbers = {
            name: self[name].data
            for name in ("waitlist", "credit_limit")
            if self[name].data is not None
        }
        return Options(
            term=self.term.data,
            starts=self.starts.data,
            ends=self.ends.data,
            erase=self.erase.data,
            **numbers,
            **usual,
        )


@bp.get("")
@requires(Right.SEE_IMPORTS)
def index() -> ResponseReturnValue:
    """Render the form and the latest imports."""
    return _index_page(ImportForm(None, layout=LAYOUTS[0]))


@bp.post("")
@requires(Right.EXCHANGE_DATA)
@takes_files
def send() -> ResponseReturnValue:
    """Begin an import, or show the errors of the form."""
    form = ImportForm()
    if not form.validate():
        return _index_page(form)
    sent = form.contents
    name = sent[0][0] if len(sent) == 1 else _("%(count)s files", count=len(sent))
    new = import_jobs.NewImport(visitor().id, name, files.digest_of_files(sent), form.options)
    try:
        with transaction() as session:
            import_id = import_jobs.begin(session, new)
            files.store_files(session, import_id, sent)
    except import_jobs.Busy as other:
        busy = _(
            "Another import is running: %(which)s. Upload your files when it has finished.",
            which=other,
        )
        form.refuse(busy, "files")
        return _index_page(form, 409)
    enqueue(import_id)
    return go(url_for("admin.imports.show", import_id=import_id))


@bp.errorhandler(RequestEntityTooLarge)
def _too_large(_error: RequestEntityTooLarge) -> ResponseReturnValue:
    """Render the form again. None of its fields were read."""
    form = ImportForm(None, layout=LAYOUTS[0])
    too_large = _(
        "These files are larger than %(most)s MB. Pack them into a zip, or upload them"
        " in parts as updates.",
        most=MOST_BYTES // 2**20,
    )
    form.refuse(too_large, "files")
    return _index_page(form, 413)


def _index_page(form: ImportForm, status: int = 0) -> ResponseReturnValue:
    sorting = Sorting.parse(import_jobs.SORTS, request.args, starts_down=True)
    with transaction() as session:
        import_jobs.delete_expired(session)
        exports = export_jobs.exports_of(session, visitor().id)
        mappings = columns.saved(session)
    return render_form(
        "admin/imports.html",
        form,
        status=status,
        latest=import_jobs.latest(sorting),
        sorting=sorting,
        exports=exports,
        mappings=mappings,
        terms=live_terms(),
    )


@bp.get("/<int:import_id>")
@requires(Right.SEE_IMPORTS)
def show(import_id: int) -> ResponseReturnValue:
    """Render an import: in progress, ready for review, or done."""
    return _page(import_id, TermDatesForm(None))


def _page(import_id: int, dates: TermDatesForm) -> ResponseReturnValue:
    with transaction() as session:
        found = find_import(session, import_id)
        if found.state == "columns" and found.account_id == visitor().id:
            return redirect(url_for("admin.import_columns.choose", import_id=import_id))
        owner = found.account_id and session.get_one(Account, found.account_id).name
        page = render_template(
            "admin/import.html",
            found=found,
            dates=dates if review.lacks_dates(found) else None,
            failure=translated(found.error),
            owner=owner or "",
            barred=runs.is_blocked(found),
            again=has_files(session, import_id),
            late=found.notes.get(LATE, 0),
            left=enrollments.count_left(session, import_id) if found.state == "enrolling" else 0,
            unseated=found.notes.get(LEFT, 0),
            notified=count_notified(session, import_id, found.counts)
            if found.state == "ready"
            else 0,
            refused=review.count_refused(found),
            terms=review.terms(session, found) if found.state == "done" else [],
            mine=found.account_id == visitor().id,
            state=import_jobs.state_of(session, found),
            step=step_of(import_id),
            acts=_acts(session, import_id) if found.state == "ready" else None,
            columns=columns.seen_tables(session, import_id) if found.state in columns.OPEN else [],
            changes=review.changes(session, found),
            idle=not any(map(count_changes, found.counts.values())),
            complete=review.is_complete(found),
            published=review.published_term(session, found),
            drafts=review.count_drafts(session, found) if found.state == "ready" else 0,
            unnamed=review.unnamed_sections(session, found) if found.state == "ready" else [],
            kinds=review.KINDS,
            sorts=review.SORTS,
            findings=review.findings(session, found),
            actions=ACTIONS,
            counted=summary(found.notes),
        )
    return page, 422 if dates.errors else 200


@dataclass(frozen=True)
class StatusActs:
    """The effects of the statuses that an import changes, and the sections that it cancels."""

    sentences: list[str]
    canceled: list[tuple[StatusEdit, list[AffectedStudent]]]


def _acts(session: Session, import_id: int) -> StatusActs:
    """Return what the statuses that an import changes do, and who is affected."""
    edits = statuses.edits_of(session, import_id)
    counts = Counter(each.action for each in edits)
    sentences = [text for action, text in _texts_of_counts(counts).items() if counts[action]]
    found = sorted((each for each in edits if each.action == "cancel"), key=lambda it: it.name)
    ids = [each.seen.section_id for each in found]
    if found:
        lost = statuses.losses(session, ids)
        sentences += effects.of_losses(lost.seats, lost.positions, lost.prior)
    people = students.people_of(session, ids)
    return StatusActs(sentences, [(each, people[each.seen.section_id]) for each in found])


def _texts_of_counts(counts: Mapping[str, int]) -> dict[str, str]:
    """Return what each change of a status does to as many sections."""
    return {
        "publish": _n(
            "%(num)s section is published.",
            "%(num)s sections are published.",
            counts["publish"],
        ),
        "confirm": _n(
            "%(num)s section is confirmed. Students can no longer register for it.",
            "%(num)s sections are confirmed. Students can no longer register for them.",
            counts["confirm"],
        ),
        "reopen": _n(
            "%(num)s section is opened again.",
            "%(num)s sections are opened again.",
            counts["reopen"],
        ),
        "cancel": _n(
            "%(num)s section is canceled.", "%(num)s sections are canceled.", counts["cancel"]
        ),
    }


@bp.get("/<int:import_id>/progress")
@requires(Right.SEE_IMPORTS)
def progress(import_id: int) -> ResponseReturnValue:
    """Render the progress for an open page, which reloads when the state changes."""
    seen = request.args.get("seen", "")
    try:
        with transaction() as session:
            found = find_import(session, import_id)
            state = import_jobs.state_of(session, found)
    except (OperationalError, InterfaceError):  # the page asks again
        away = {"found": None, "state": "away", "step": ProgressStep()}
        return render_template("admin/import_progress.html", import_id=import_id, seen=seen, **away)
    if state != seen:
        return "", 204, {"HX-Refresh": "true"}
    context = {"found": found, "state": state, "step": step_of(import_id)}
    return render_template("admin/import_progress.html", import_id=import_id, seen=seen, **context)


@bp.post(f"/<int:import_id>/<any({','.join(STEPS)}):step>")
@requires(Right.EXCHANGE_DATA)
def do(import_id: int, step: str) -> ResponseReturnValue:
    """Apply an import, discard it, read it again, or ask a worker to continue it."""
    wanted = STEPS[step]
    dates = TermDatesForm() if step == "again" and "starts" in request.form else None
    if dates and not dates.validate():
        return _page(import_id, dates)
    options: dict[str, bool | str] = {
        each.short_name: each.data.isoformat() for each in dates or ()
    }
    if wanted.state == "approved":
        options["cancels"] = "cancels" in request.form
    with transaction() as session:
        found = find_import(session, import_id)
        if wanted.own and found.account_id != visitor().id:
            abort(403)
        why = steps.take(session, found, step, options)
    if not why and wanted.state != "discarded":
        enqueue(import_id)
    return done(why or str(wanted.done), url_for("admin.imports.show", import_id=import_id))


@bp.get("/<int:import_id>/report.csv")
@requires(Right.SEE_IMPORTS)
def report(import_id: int) -> ResponseReturnValue:
    """Return all findings and changes as CSV."""
    with transaction() as session:
        find_import(session, import_id)
    rows = report_rows(import_id, str(current_locale()))
    return download(f"import-{import_id}.csv", rows)


def find_import(session: Session, import_id: int) -> Import:
    """Return an import, or end the request with 404."""
    return session.get(Import, import_id) or abort(404)


def enqueue(import_id: int) -> None:
    """Ask a worker to continue an import."""
    # If Redis is unavailable, the page offers to try again.
    with suppress(RedisError):
        runs.enqueue(import_id)


@bp.route("/<int:import_id>/end", methods=["GET", "POST"])
@requires(Right.EXCHANGE_DATA)
def end(import_id: int) -> ResponseReturnValue:
    """End an import without the remaining seats."""
    with transaction() as session:
        found = find_import(session, import_id)
        left = enrollments.count_left(session, import_id)
    address = f"/admin/imports/{import_id}"
    too_late = _(
        "This is no longer possible: a worker is processing the import, or it has finished."
    )

    def act(reason: str) -> ResponseReturnValue:
        with transaction() as session:
            ended = enrollments.end_import(session, import_id, visitor().id, reason)
        if not ended:
            raise NotPossible(too_late)
        return done(
            _("The import has ended. The enrollments that were not applied are listed below."),
            address,
        )

    page = Confirmation(
        title=_("End the import without these enrollments"),
        button=_("End without them"),
        back=(address, found.name),
        facts=[(_("Import"), found.name), (_("Why it stopped"), translated(found.error) or "–")],
        meaning=[
            _n(
                "%(num)s enrollment will not be applied. The report lists it. The rest of the"
                " import stays.",
                "%(num)s enrollments will not be applied. The report lists them. The rest of"
                " the import stays.",
                left,
            )
        ],
        danger=True,
        refusal="" if found.state == "enrolling" else too_late,
    )
    return confirm(page, act)
