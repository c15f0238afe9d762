"""The steps that an admin takes with an import: apply, discard, read again, continue."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from sqlalchemy.orm import Session

from portal.core.i18n import _, _l
from portal.exchange.importing import import_jobs, runs, statuses
from portal.exchange.importing.files import has_files
from portal.exchange.importing.models import BUSY, Import

# Once an import starts to apply enrollments, it can't be undone.
REVOCABLE = ("ready", "columns", *(state for state in BUSY if state != "enrolling"))


@dataclass(frozen=True)
class Step:
    """A step: the states in which it is possible, the next state, and its message."""

    of: tuple[str, ...]
    state: str  # blank if it stays the same
    done: str
    own: bool = False  # for the sender alone
    options: Mapping[str, bool | str] = field(default_factory=dict)  # which it changes


APPLIED = _l("The import is being applied.")
READ_AGAIN = _l("The files are being read again.")
CONTINUED = _l("A worker was asked to continue it.")
STEPS = {
    "apply": Step(("ready",), "approved", APPLIED, own=True),
    "rest": Step(("ready",), "approved", APPLIED, own=True, options={"leave_out": True}),
    "past": Step(("ready",), "waiting", READ_AGAIN, own=True, options={"past": True}),
    "overwrite": Step(("ready",), "waiting", READ_AGAIN, own=True, options={"overwrite": True}),
    "discard": Step(REVOCABLE, "discarded", _l("Discarded. Nothing was changed.")),
    "again": Step(("failed",), "waiting", READ_AGAIN),
    "enroll": Step(("enrolling",), "enrolling", CONTINUED),
    "resume": Step(BUSY, "", CONTINUED),
}


def take(
    session: Session, found: Import, name: str, options: Mapping[str, bool | str] | None = None
) -> str:
    """Take a step of STEPS, with other options. Return why that is not possible, else blank."""
    step = STEPS[name]
    step = replace(step, options={**step.options, **(options or {})})
    why = _obstacle(session, found, name, step) or _change_state(session, found, step)
    if not why and STEPS[name].state == "discarded":
        import_jobs.clear(session, [found.id], import_jobs.ALL_TABLES)
    return why


def _obstacle(session: Session, found: Import, name: str, step: Step) -> str:
    if name in {"discard", "resume"} and import_jobs.is_at_work(session) and found.busy:
        return _("A worker is processing it. Wait until it has finished.")
    if name == "apply" and runs.is_blocked(found):
        return _("Some students would be refused. Choose what to do with them.")
    confirmed = step.options.get("cancels")
    if step.state == "approved" and not confirmed and statuses.cancels(session, found.id):
        return _("Nothing was applied. Tick the box to confirm that sections are canceled.")
    if name == "again" and not has_files(session, found.id):
        return _("The files are no longer stored. Upload them again.")
    return ""


def _change_state(session: Session, found: Import, step: Step) -> str:
    options = {**found.options, **step.options}
    try:
        if step.state and not import_jobs.change_state(
            session, found.id, step.state, of=step.of, error="", options=options
        ):
            return _("This is no longer possible. The page shows the current state.")
    except import_jobs.Busy as other:
        return _("Another import is running: %(which)s. Wait until it has finished.", which=other)
    import_jobs.reset_tries(session, found.id)
    return ""
