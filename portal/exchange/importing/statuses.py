"""Changes of status by an import: edited statuses of an export, and removed sections.

An edited status becomes the change that the section's page offers. A removed section is canceled.
Other files change no status, because they do not tell which one the section had.

The edits are staged as records of their own kind, `status`, so the preview, its digest and the
report have them. Only a cell that differs from the exported one is an edit.
"""

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from sqlalchemy import text
from sqlalchemy.orm import Session

from portal.catalog import requisites, sections
from portal.catalog.sections import STATUS_CHANGES, NotPossible, SeenSection
from portal.core.i18n import _k
from portal.exchange.importing.edits import HERE, OVERWRITTEN, STALE
from portal.exchange.importing.models import Import
from portal.exchange.importing.staging import Stage
from portal.exchange.importing.tables import Row
from portal.exchange.importing.values import value_text
from portal.exchange.record_sql import SECTION_CHANGES
from portal.exchange.term_records import STATUS_WORDS, Base

# How systems write a section's status.
PLAINLY_CANCELED = {"CANCELED", "CANCELLED", "CANCEL", "CANC"}
CANCELED = {*PLAINLY_CANCELED, "C", "X", "I", "D", "INACTIVE", "DROPPED"}
CLOSED = {"CL", "CLOSED", "FULL"}
SEATS_LEFT = {"O", "OP", "OPEN", *CLOSED}  # beside these, C may be "closed"
STATUSES = {word.upper(): status for status, word in STATUS_WORDS.items()}
RUNNING = {"A", "ACTIVE", *STATUSES, *SEATS_LEFT}
ACTIONS = ("publish", "confirm", "reopen", "cancel")  # of STATUS_CHANGES
STATUS = "status"  # the kind of record, its only field, and its column
NO_DRAFT = _k(
    "Imports don’t make sections drafts. The page of an open section does, as long as no student is"
    " in it."
)
FROM_CANCELED = _k("A canceled section stays canceled. “Offer again” on its page makes it a draft.")
UNREAD = _k(
    "Some of its values can’t be read. Correct them first: students would see the old ones."
)
REFUSALS = {
    ("NEW", "CONFIRMED"): _k("A draft can’t be confirmed. Write Open, and confirm it later."),
    ("NEW", "CANCELED"): _k("A draft can’t be canceled. Delete it on its page."),
}
CHANGES = text(f"""
    SELECT sections.id, sections.term_id, sections.version, change = 'removed' AS removed,
        before ->> 'status' AS before, after ->> 'status' AS after,
        courses.code, number, coalesce(nullif(sections.title, ''), courses.title) AS title
    FROM {SECTION_CHANGES}
    JOIN courses ON courses.id = course_id
    WHERE import_id = :id
        AND (changes.kind = 'status' OR changes.kind = 'section' AND change = 'removed')
    ORDER BY sections.id
""")

LOSSES = text("""
    SELECT
        (SELECT count(*) FROM enrollments WHERE state = 'enrolled' AND section_id = ANY(:ids)),
        (SELECT count(*) FROM waitlist_positions
            WHERE state IN ('waiting', 'passed') AND section_id = ANY(:ids)),
        (SELECT coalesce(sum(prior_enrolled), 0) FROM sections WHERE id = ANY(:ids))
""")


class StatusEdit(NamedTuple):
    """A section whose status an import changes, and the action of STATUS_CHANGES that does it."""

    seen: SeenSection
    name: str
    title: str
    action: str
    removed: bool  # canceled because the files remove it


def status_of(row: Row) -> str | None:
    """Return the status of a section that is offered: open if it is blank; None if not known."""
    written = row["status"].strip().upper()
    return STATUSES.get(written) or ("OPEN" if not written or written in RUNNING else None)


def stage_status(  # noqa: PLR0913  what a section is, and what its row says
    stage: Stage,
    row: Row,
    key: str,
    stored: dict[str, Any] | None,
    *,
    overwrite: bool,
    unread: Collection[str],
) -> None:
    """Stage the status of an exported section if someone edited it, or report why not.

    A section with rules that can't be read, `unread`, is not published.
    """
    base, written = Base.read(row["revision"]), row[STATUS].strip()
    if not base.revision or stored is None or written.casefold() in {"", base.status.casefold()}:
        return
    here, wanted = stored[STATUS], _status_written(written)
    if wanted is None:
        if status_of(row):  # otherwise it is reported already
            row.note(STATUS, STATUS)
        return
    if wanted == here:
        return
    shown = value_text(STATUS, stored)
    if not base.status:
        row.note("status_unchanged", STATUS, HERE, here=shown)
    elif not action_to(here, wanted):
        row.note("status_refused", STATUS, _refusal(here, wanted))
    elif unread and action_to(here, wanted) == "publish":
        row.note("status_refused", STATUS, UNREAD)
    elif _status_written(base.status) != here and not overwrite:
        row.note(STALE, STATUS, HERE, here=shown)
    else:
        if _status_written(base.status) != here:
            row.note(OVERWRITTEN, STATUS, HERE, here=shown)
        stage.put(STATUS, key, {STATUS: wanted}, row)


def note_not_offered(row: Row, stored: dict[str, Any]) -> None:
    """Report a section that is a draft or canceled in the portal, and offered in other files.

    A row without a status offers its section, too.
    """
    offers = status_of(row) == "OPEN" and not row["revision"]
    if offers and stored[STATUS] in {"NEW", "CANCELED"}:
        kind = "draft_here" if stored[STATUS] == "NEW" else "canceled_here"
        row.note(kind, STATUS, HERE, here=value_text(STATUS, stored))


def action_to(here: str, wanted: str) -> str:
    """Return the action that leads from one status to another; blank if there is none."""
    ways = {name: STATUS_CHANGES[name] for name in ACTIONS}
    found = (name for name, each in ways.items() if each.status == wanted and here in each.of)
    return next(found, "")


class Losses(NamedTuple):
    """Seats and waitlist positions of students, and seats taken before registration began."""

    seats: int
    positions: int
    prior: int


def edits_of(session: Session, import_id: int) -> list[StatusEdit]:
    """Return the sections whose status an import changes, as they are now."""
    found = []
    for row in session.execute(CHANGES, {"id": import_id}):
        seen = SeenSection(row.term_id, row.id, row.version)
        action = "cancel" if row.removed else action_to(row.before, row.after)
        name = f"{requisites.shown(row.code)}-{row.number}"
        found.append(StatusEdit(seen, name, row.title, action, row.removed))
    return found


def cancels(session: Session, import_id: int) -> bool:
    """Return whether an import cancels sections, which an admin must confirm."""
    return any(each.action == "cancel" for each in edits_of(session, import_id))


def losses(session: Session, ids: Sequence[int]) -> Losses:
    """Return what students lose if these sections are canceled."""
    return Losses(*session.execute(LOSSES, {"ids": list(ids)}).one())


def change_statuses(session: Session, found: Import) -> None:
    """Change the edited statuses in the transaction of an import. Raise Stale or NotPossible.

    Each gets its own entry in the audit trail, which names the import.
    """
    reason = f"Import {found.id}: {found.name}"
    for each in edits_of(session, found.id):
        if each.removed:  # written with the other changes
            continue
        if not each.action:
            raise NotPossible(STATUS, each.seen.section_id)
        sections.change_status_within(session, each.action, each.seen, found.account_id, reason)


def _status_written(word: str) -> str | None:
    """Return the status of a word such as an export has, or “Canceled”; None if it is another."""
    word = word.upper()
    return "CANCELED" if word in PLAINLY_CANCELED else STATUSES.get(word)


def _refusal(here: str, wanted: str) -> str:
    if here == "CANCELED":
        return FROM_CANCELED
    return REFUSALS.get((here, wanted), NO_DRAFT)
