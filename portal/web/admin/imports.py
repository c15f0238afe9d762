"""Pages to import files: upload them, review the changes, apply them."""

from collections.abc import Mapping
from contextlib import suppress
from datetime import date
from typing import BinaryIO, cast

from flask import Blueprint, abort, flash, render_template, request, url_for
from flask.typing import ResponseReturnValue
from redis.exceptions import RedisError
from sqlalchemy.exc import InterfaceError, OperationalError
from sqlalchemy.orm import Session
from werkzeug.datastructures import FileStorage, MultiDict
from werkzeug.exceptions import RequestEntityTooLarge

from portal.catalog.term_catalog import live_terms
from portal.core.db import transaction
from portal.core.i18n import _, _l, _n, current_locale, translated
from portal.exchange.exporting import export_jobs
from portal.exchange.importing import enrollments, import_jobs, runs
from portal.exchange.importing.findings import ACTIONS
from portal.exchange.importing.import_jobs import MOST_FILES, File, ProgressStep, bare_name, step_of
from portal.exchange.importing.models import BUSY, LAYOUTS, Import, Options
from portal.exchange.importing.report import report_rows
from portal.exchange.importing.semester import LONGEST_NAME
from portal.exchange.importing.upserts import count_changes
from portal.people.models import Account
from portal.web.admin import import_view
from portal.web.admin.form_reading import Reading
from portal.web.confirm import Confirmation, NotPossible, confirm, done
from portal.web.http.access import requires, visitor
from portal.web.http.downloads import download
from portal.web.http.layout import go
from portal.web.http.uploads import MOST_BYTES, takes_files

bp = Blueprint("imports", __name__, url_prefix="/imports")
MOST_PLACES = 10_000
MOST_CREDITS = 200
# Once an import starts to apply enrollments, it can't be undone.
REVOCABLE = ("ready", *(state for state in BUSY if state != "seating"))
CHOICES = {"rest": {"leave_out": True}, "past": {"past": True}}
OWN = {"apply", *CHOICES}  # steps for the sender only
STEPS = {
    "apply": (("ready",), "approved", _l("The import is being applied.")),
    "rest": (("ready",), "approved", _l("The import is being applied.")),
    "past": (("ready",), "waiting", _l("The files are being read again.")),
    "discard": (REVOCABLE, "discarded", _l("Discarded. Nothing was changed.")),
    "again": (("failed",), "waiting", _l("The files are being read again.")),
    "seat": (("seating",), "seating", _l("A worker was asked to continue it.")),
    "resume": (BUSY, "", _l("A worker was asked to continue it.")),
}


@bp.get("")
@requires("admin")
def index() -> ResponseReturnValue:
    """Render the form and the latest imports."""
    return _form(Reading(), 200)


@bp.post("")
@requires("admin")
@takes_files
def send() -> ResponseReturnValue:
    """Begin an import, or show the errors of the form."""
    reading = Reading()
    options = read_options(reading, request.form)
    files = read_files(reading, request.files.getlist("files"))
    if reading.errors:
        return _form(reading, 422)
    name = files[0][0] if len(files) == 1 else _("%(count)s files", count=len(files))
    sent = import_jobs.NewImport(visitor().id, name, import_jobs.digest_of_files(files), options)
    try:
        with transaction() as session:
            import_id = import_jobs.begin(session, sent)
            import_jobs.store_files(session, import_id, files)
    except import_jobs.Busy as other:
        advice = _(
            "Another import is under way: %(which)s. Send yours when it is done.", which=other
        )
        reading.wrong("files", advice)
        return _form(reading, 409)
    _call(import_id)
    return go(url_for("admin.imports.show", import_id=import_id))


@bp.errorhandler(RequestEntityTooLarge)
def _too_large(_error: RequestEntityTooLarge) -> ResponseReturnValue:
    """Render the form again. None of its fields were read."""
    reading, most = Reading(), MOST_BYTES // 2**20
    reading.wrong(
        "files",
        _(
            "These files have more than %(most)s MB. Pack them into a zip, or send a part at a time"
            " as an update.",
            most=most,
        ),
    )
    return _form(reading, 413, {})


@bp.get("/<int:import_id>")
@requires("admin")
def show(import_id: int) -> ResponseReturnValue:
    """Render an import: in progress, ready for review, or done."""
    with transaction() as session:
        found = _find(session, import_id)
        owner = found.account_id and session.get_one(Account, found.account_id).name
        return render_template(
            "admin/import.html",
            found=found,
            failure=translated(found.error),
            owner=owner or "",
            barred=runs.is_blocked(found),
            again=import_jobs.has_files(session, import_id),
            late=found.notes.get(enrollments.LATE, 0),
            left=enrollments.left(session, import_id) if found.state == "seating" else 0,
            unseated=found.notes.get(enrollments.LEFT, 0),
            listeners=import_view.listeners(session, found),
            refused=import_view.refused(found),
            terms=import_view.terms(session, found) if found.state == "done" else [],
            mine=found.account_id == visitor().id,
            state=import_jobs.state_of(session, found),
            step=step_of(import_id),
            lines=import_view.lines(session, found),
            idle=not any(map(count_changes, found.counts.values())),
            kinds=import_view.KINDS,
            sorts=import_view.SORTS,
            reasons=import_view.reasons(session, found),
            actions=ACTIONS,
        )


@bp.get("/<int:import_id>/progress")
@requires("admin")
def progress(import_id: int) -> ResponseReturnValue:
    """Render the progress for an open page, which reloads when the state changes."""
    seen = request.args.get("seen", "")
    try:
        with transaction() as session:
            found = _find(session, import_id)
            state = import_jobs.state_of(session, found)
    except (OperationalError, InterfaceError):  # the page asks again
        away = {"found": None, "state": "away", "step": ProgressStep()}
        return render_template("admin/import_progress.html", import_id=import_id, seen=seen, **away)
    if state != seen:
        return "", 204, {"HX-Refresh": "true"}
    context = {"found": found, "state": state, "step": step_of(import_id)}
    return render_template("admin/import_progress.html", import_id=import_id, seen=seen, **context)


@bp.post(f"/<int:import_id>/<any({','.join(STEPS)}):step>")
@requires("admin")
def do(import_id: int, step: str) -> ResponseReturnValue:
    """Apply an import, discard it, read it again, or ask a worker to continue it."""
    _of, state, done = STEPS[step]
    here = url_for("admin.imports.show", import_id=import_id)
    with transaction() as session:
        found = _find(session, import_id)
        if step in OWN and found.account_id != visitor().id:
            abort(403)
        if why := _against(session, found, step) or _moved(session, found, step):
            flash(why)
            return go(here)
        if state == "discarded":
            import_jobs.clear(
                session, import_id, (*import_jobs.INPUT_TABLES, *import_jobs.RESULT_TABLES)
            )
    flash(str(done))
    if state != "discarded":
        _call(import_id)
    return go(here)


def _against(session: Session, found: Import, step: str) -> str:
    """Return why the step is not possible now, blank if it is."""
    if step in {"discard", "resume"} and import_jobs.is_at_work(session) and found.busy:
        return _("A worker is busy with it. Wait until it is done.")
    if step == "apply" and runs.is_blocked(found):
        return _("Some students would be refused. Choose what to do with them.")
    if step == "again" and not import_jobs.has_files(session, import_id=found.id):
        return _("The files are no longer stored. Send them again.")
    return ""


def _moved(session: Session, found: Import, step: str) -> str:
    """Change the state for the step. Return why that is not possible, blank if it is."""
    of, state, _done = STEPS[step]
    choices = {"options": found.options | CHOICES.get(step, {})}
    try:
        if state and not import_jobs.change_state(
            session, found.id, state, of=of, error="", **choices
        ):
            return _("This is no longer possible. The page shows the current state.")
    except import_jobs.Busy as other:
        return _("Another import is under way: %(which)s. Wait until it is done.", which=other)
    import_jobs.reset_tries(session, found.id)
    return ""


@bp.get("/<int:import_id>/report.csv")
@requires("admin")
def report(import_id: int) -> ResponseReturnValue:
    """Return all findings and changes as CSV."""
    with transaction() as session:
        _find(session, import_id)
    rows = report_rows(import_id, str(current_locale()))
    return download(f"import-{import_id}.csv", rows)


def _find(session: Session, import_id: int) -> Import:
    return (session.get(Import, import_id) if import_id < 2**31 else None) or abort(404)


def _call(import_id: int) -> None:
    # If Redis is unavailable, the page offers to try again.
    with suppress(RedisError):
        runs.enqueue(import_id)


def _form(
    reading: Reading, status: int, form: Mapping[str, str] | None = None
) -> ResponseReturnValue:
    with transaction() as session:
        import_jobs.forget_expired(session)
        exports = export_jobs.exports_of(session, visitor().id)
    page = render_template(
        "admin/imports.html",
        form=request.form if form is None else form,
        reading=reading,
        latest=import_jobs.latest(),
        exports=exports,
        terms=live_terms(),
    )
    return page, status


@bp.route("/<int:import_id>/end", methods=["GET", "POST"])
@requires("admin")
def end(import_id: int) -> ResponseReturnValue:
    """End an import without the remaining seats."""
    with transaction() as session:
        found = session.get(Import, import_id) if import_id < 2**31 else None
        found = found or abort(404)
        left = enrollments.left(session, import_id)
    address = f"/admin/imports/{import_id}"
    too_late = _("This is no longer possible: a worker is busy with it, or it is done.")

    def act(reason: str) -> ResponseReturnValue:
        with transaction() as session:
            ended = enrollments.end(session, import_id, visitor().id, reason)
        if not ended:
            raise NotPossible(too_late)
        return done(
            _("The import was ended. The enrollments that were left are listed below."), address
        )

    page = Confirmation(
        title=_("End the import without these seats"),
        button=_("End it without them"),
        back=(address, found.name),
        facts=[(_("Import"), found.name), (_("What stopped it"), translated(found.error) or "–")],
        meaning=[
            _n(
                "%(num)s seat is left and will not be dealt with: the report names it. All else of"
                " the import stays.",
                "%(num)s seats are left and will not be dealt with: the report names them. All"
                " else of the import stays.",
                left,
            )
        ],
        danger=True,
        refusal="" if found.state == "seating" else too_late,
    )
    return confirm(page, act)


# The form


def read_options(reading: Reading, form: MultiDict[str, str]) -> Options:
    """Return the chosen options, with defaults in place of invalid values."""
    layout = form.get("layout", "")
    if layout not in LAYOUTS:
        reading.wrong("layout", _("Choose the file format."))
        layout = LAYOUTS[0]
    semester = layout == "semester"
    return Options(
        layout=layout,
        term=_term(reading, form) if semester else "",
        update=True,
        past=form.get("past") == "yes" and not semester,
        remove=form.get("remove") == "yes",
        waitlist=_number(reading, form, "waitlist", 10, MOST_PLACES) if semester else 10,
        starts=_day(reading, form, "starts") if semester else None,
        ends=_day(reading, form, "ends") if semester else None,
        credit_limit=_number(reading, form, "credit_limit", 21, MOST_CREDITS) if semester else 21,
    )


def read_files(reading: Reading, sent: list[FileStorage]) -> list[File]:
    """Return the uploaded files under their base names."""
    files = [
        (bare_name(each.filename), cast("BinaryIO", each.stream)) for each in sent if each.filename
    ]
    names = [name for name, _stream in files]
    if not files:
        reading.wrong("files", _("Choose a zip, or the files."))
    elif len(files) > MOST_FILES:
        reading.wrong("files", _("Choose %(most)s files at most, or a zip.", most=MOST_FILES))
    elif len(set(names)) < len(names):
        reading.wrong("files", _("Two of the files have the same name."))
    return files


def _term(reading: Reading, form: MultiDict[str, str]) -> str:
    name = " ".join(form.get("term", "").split())
    if not name or len(name) > LONGEST_NAME or not name.isprintable():
        most = LONGEST_NAME
        reading.wrong("term", _("Give the term a name of %(most)s characters at most.", most=most))
        return ""
    return name


def _day(reading: Reading, form: MultiDict[str, str], name: str) -> date | None:
    text = form.get(name, "").strip()
    try:
        return date.fromisoformat(text) if text else None
    except ValueError:
        reading.wrong(name, _("Give a day such as 2026-08-31, or leave it blank."))
        return None


def _number(reading: Reading, form: MultiDict[str, str], name: str, usual: int, most: int) -> int:
    text = form.get(name, "").strip() or str(usual)
    if text.isascii() and text.isdigit() and len(text) < 10 and int(text) <= most:
        return int(text)
    reading.wrong(name, _("Give a whole number from 0 to %(most)s.", most=most))
    return usual
