"""Operations: the portal's status, its feature flags, and the audits."""

from collections.abc import Collection
from functools import partial
from typing import TYPE_CHECKING, Any

from flask import Blueprint, abort, flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from jinja2 import Environment
from sqlalchemy import select

from portal.backend import backend
from portal.catalog.local_time import local_clock
from portal.core import bulkheads, flags
from portal.core.db import transaction
from portal.core.flags import Flag, Switched, Switching
from portal.core.i18n import _, _l, in_language
from portal.core.queue import QUEUE_LABELS, QUEUES, pause_flag
from portal.ledger.function_library import translate_errors
from portal.live.rendering import Fragments, OperationsReader, renderers
from portal.notifications import mail_texts
from portal.operations import figures, opening
from portal.operations.alarms import alarms
from portal.operations.figures import Figures
from portal.people.models import Account
from portal.people.roles import Right
from portal.recorder.consistency import audit_runs
from portal.recorder.events import STUDENT_EVENTS
from portal.recorder.models import ContinuousAudit
from portal.recorder.status import HOUR_SPANS, stage_lags
from portal.waiting_room import wait_estimates
from portal.web.admin.terms import term_or_404
from portal.web.confirm import NotPossible, Wording, confirm, seen_number
from portal.web.http.access import requires, visitor
from portal.web.http.layout import go

if TYPE_CHECKING:
    from flask.blueprints import BlueprintSetupState

bp = Blueprint("operations", __name__, url_prefix="/operations")

HOME = "/admin/operations"
EARLIER = 10  # audits in the list
# The panels in the order of the page; each has the id ops-<part>, and is sent when it changes.
PANELS = (
    *("state", "now", "windows", "queues", "underway", "dead_jobs", "dead_mails"),
    *("dead_applications", "flags", "audits"),
)
WORKER_STATES = {
    "idle": _l("idle"),
    "busy": _l("busy"),
    "paused": _l("paused"),
    "silent": _l("not responding"),
}
LAG_STAGES = {
    "created": _l("Picked up"),
    "recorded": _l("Saved in the records"),
    "projected": _l("Shown on pages"),
    "failed": _l("Failed attempts"),
}
LAG_SPANS = {"24h": _l("24 hours"), "7d": _l("7 days"), "30d": _l("30 days")}
AUDIT_STEPS = {
    "waiting": _l("Waiting"),
    "recording": _l("Recording new events"),
    "reading": _l("Reading the ledger"),
    "comparing": _l("Comparing"),
    "done": _l("Done"),
}


# The page, and its panels for open pages


@bp.get("")
@requires(Right.SEE_OPERATIONS)
def index() -> ResponseReturnValue:
    """Render the whole status, problems first."""
    content = _content(figures.read_figures(), operates=visitor().may(Right.OPERATE))
    return render_template("admin/operations/index.html", panels=PANELS, **content)


@bp.record_once
def _render_live(state: "BlueprintSetupState") -> None:
    renderers.operations = partial(_render_panels, state.app.jinja_env)


def _render_panels(
    pages: Environment, readers: Collection[OperationsReader]
) -> dict[OperationsReader, Fragments]:
    """Return every panel as it is now, for each kind of reader."""
    found, rendered = figures.read_figures(), {}
    for reader in readers:
        with in_language(reader.language):
            content = _content(found, operates=reader.operates)
            rendered[reader] = {
                panel: pages.get_template(f"fragments/operations/{panel}.html")
                .render(content)
                .strip()
                for panel in PANELS
            }
    return rendered


def _content(found: Figures, *, operates: bool) -> dict[str, Any]:
    """Return the data of the panels, in the reader's language, with buttons if it `operates`."""
    return {
        "operates": operates,
        "figures": found,
        "alarms": alarms(found),
        "switches": figures.switches(found),
        "when_off": flags.WHEN_OFF,
        "worker_states": WORKER_STATES,
        "mail_kinds": mail_texts.labels(),
        "queue_names": QUEUE_LABELS,
        "pauses": figures.pauses(found),
        "admitted_per_minute": wait_estimates.admitted_per_minute,
        "times": local_clock(),
    }


@bp.get("/opening")
@requires(Right.SEE_TERMS)
def show_opening() -> ResponseReturnValue:
    """Go to the opening that matters now: of the open window, the next, or the last one."""
    chosen = opening.current()
    if chosen is None:
        return render_template("admin/opening_none.html")
    term, now = chosen
    address = url_for("admin.waiting_room.show", term_id=term.term.id, window_id=now.window.id)
    return redirect(address, 303)


# Feature flags


@bp.route(f"/flags/<any({','.join(flags.NAMES)}):name>", methods=["GET", "POST"])
@requires(Right.OPERATE)
def switch(name: str) -> ResponseReturnValue:
    """Switch a part on or off in all processes."""
    if name not in figures.parts_in_use():
        abort(404)
    part, flag = flags.LABELS[name], flags.find(name)
    stays = _(
        "All processes follow within two seconds. It stays this way until someone changes it."
    )
    meaning = f"{flags.WHEN_OFF[name]} {stays}"
    on = Wording(
        _("Switch on: %(name)s", name=part),
        meaning,
        _("%(name)s: switched on. All processes follow within two seconds.", name=part),
        _("Switch on"),
    )
    off = Wording(
        _("Switch off: %(name)s", name=part),
        meaning,
        _("%(name)s: switched off. All processes follow within two seconds.", name=part),
        _("Switch off"),
        danger=True,
    )
    changed = _("Someone else has changed this switch. Check it and try again.")
    return _switch(flag, on, off, _("on") if flag.is_on else _("off"), changed)


# Queues, and how late events reach each stage


@bp.route(f"/queues/<any({','.join(QUEUES)}):queue>", methods=["GET", "POST"])
@requires(Right.OPERATE)
def pause(queue: str) -> ResponseReturnValue:
    """Pause a queue or let it go on, in all workers."""
    flag, named = flags.find(pause_flag(queue)), QUEUE_LABELS[queue]
    on = Wording(
        _("Resume: %(queue)s", queue=named),
        _("Workers start the waiting jobs."),
        _("%(queue)s: the queue continues within two seconds.", queue=named),
        _("Resume queue"),
    )
    off = Wording(
        _("Pause: %(queue)s", queue=named),
        _("Workers finish their current job and start no others. Jobs wait, and none is lost."),
        _("%(queue)s: paused. Jobs that run now are finished.", queue=named),
        _("Pause queue"),
        danger=True,
    )
    changed = _("Someone else has paused or resumed this queue. Check it and try again.")
    return _switch(flag, on, off, _("running") if flag.is_on else _("paused"), changed)


def _switch(flag: Flag, on: Wording, off: Wording, now: str, changed: str) -> ResponseReturnValue:
    """Switch a flag once it is confirmed; refuse if it has `changed` since the page was shown."""

    def act(reason: str) -> str:
        wanted = Switching(flag.name, request.form.get("to") == "on", seen_number(), reason)
        try:
            flags.change(wanted, visitor().id)
        except Switched:
            raise NotPossible(changed) from None
        figures.forget()
        return (on if wanted.on else off).done

    page = (off if flag.is_on else on).page(
        (HOME, _("Operations")),
        facts=[(_("Now"), now)],
        seen={"to": "off" if flag.is_on else "on", "version": flag.version},
    )
    return confirm(page, act)


@bp.get("/lag")
@requires(Right.SEE_OPERATIONS)
def lag() -> ResponseReturnValue:
    """Render how late events reach each stage, by their name."""
    span = request.args.get("span", "24h")
    if span not in LAG_SPANS:
        abort(404)
    with transaction() as session:
        found = stage_lags(session, HOUR_SPANS[span])
    return render_template(
        "admin/operations/lag.html",
        lags=found,
        span=span,
        spans=LAG_SPANS,
        stages=LAG_STAGES,
        events=STUDENT_EVENTS,
    )


# Audits: whether ledger, event log and read models agree


@bp.get("/audits/<int:term_id>")
@requires(Right.SEE_OPERATIONS)
def audit(term_id: int) -> ResponseReturnValue:
    """Render the last run with its findings, and earlier runs."""
    return render_template("admin/operations/audit.html", **_audits(term_id))


@bp.get("/audits/<int:term_id>/run")
@requires(Right.SEE_OPERATIONS)
def audit_progress(term_id: int) -> ResponseReturnValue:
    """Render the last run alone, for an open page."""
    return render_template("admin/operations/audit_run.html", **_audits(term_id))


@bp.post("/audits/<int:term_id>")
@requires(Right.OPERATE)
def start_audit(term_id: int) -> ResponseReturnValue:
    """Start an audit in a worker; only one runs at a time."""
    with translate_errors():
        bulkheads.check_background_queue(backend().redis)
    term_or_404(term_id)
    if audit_runs.start(term_id, visitor().id):
        flash(_("The audit has started. You can leave this page."))
    else:
        flash(_("An audit of this term is already running."))
    figures.forget()
    return go(url_for("admin.operations.audit", term_id=term_id))


def _audits(term_id: int) -> dict[str, object]:
    term = term_or_404(term_id)
    with transaction() as session:
        found = audit_runs.latest(session, term_id, EARLIER)
        named = select(Account.id, Account.name).where(
            Account.id.in_({run.account_id for run in found})
        )
        return {
            "term": term,
            "run": found[0] if found else None,
            "earlier": found[1:],
            "names": {row.id: row.name for row in session.execute(named)},
            "continuous": session.get(ContinuousAudit, term_id),
            "steps": AUDIT_STEPS,
        }
