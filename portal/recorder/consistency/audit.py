"""Audit (invariant 5): compare the ledger, the event log and the read models of a term."""

from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import Any

from sqlalchemy.orm import Session

from portal.catalog.term_catalog import terms_named
from portal.core.checkpoints import checkpoint
from portal.core.db import transaction
from portal.recorder import idempotency, read_models
from portal.recorder.consistency import ledger_keys, room_image
from portal.recorder.consistency.differences import (
    Difference,
    Within,
    of_ledger,
    of_log,
    of_read_models,
)
from portal.recorder.consistency.ledger_image import BY_NAME, NOT_IN_LOG, Image, split
from portal.recorder.consistency.ledger_keys import Step
from portal.recorder.consistency.room_image import RoomStep
from portal.recorder.event_log import ProgressCallback, fold, no_progress, replay, strides
from portal.recorder.journal import JournalGap
from portal.recorder.projections import TermState, UnknownEvent
from portal.recorder.recorder import catch_up

JOURNAL_LOST, UNREADABLE_ENTRY = "journal", "journal entry"

Report = dict[str, Any]


def audit(name: str = "", keep: Callable[[int, Report], None] | None = None) -> Report:
    """Return the differences of the named term, or of every term.

    Each term's report is passed to `keep`. Raises CommandError.
    """
    reports = []
    for number, term in terms_named(name):
        report = audit_term(number)
        if keep:
            keep(number, report)
        reports.append({"term": term} | report)
    return {"clean": all(report["clean"] for report in reports), "terms": reports}


def audit_term(term: int, progress: ProgressCallback = no_progress) -> Report:
    """Return the differences of a term, and report progress.

    Claims may go on meanwhile. If the ledger is ahead of what can be recorded, it is not compared.
    The report then gives the number of events as `unrecorded`: no difference, but not `clean`
    either.
    """
    progress("recording", 0, 0)
    broken = unrecordable(term)
    image = Image()
    at = replay(term, image, checkpoint(term), progress, "comparing")
    names = ledger_keys.key_names(term)
    progress("reading", 0, 0)
    wanted = {key for key in names if split(key)[0] in BY_NAME} | image.keys().keys()
    # No event tells who is set aside, so a section's first such student would be missed.
    wanted |= {f"aside:{section}" for section in image.seats}
    steps = ledger_keys.read_keys(term, wanted)
    rooms = room_image.read(term, image)
    broken = broken or unrecordable(term)

    def advance(session: Session, through: int) -> None:
        nonlocal at
        for after, until in strides(at, through):
            progress("comparing", after, through)
            fold(session, term, image, after, until)
        at = max(at, through)

    progress("comparing", at, at)
    found, unrecorded = compare(
        term,
        image,
        steps,
        advance,
        lambda session: read_models.load_all(session, term),
        rooms=rooms,
    )
    differences = [*broken, *_unknown_keys(names), *found]
    if not unrecorded:
        differences += idempotency.unrecorded(term, names, at)
    return {
        "events": at,
        "unrecorded": unrecorded,
        "differences": differences,
        "clean": not differences and not unrecorded,
    }


def compare(  # noqa: PLR0913  what a whole audit and a partial one differ in
    term: int,
    image: Image,
    steps: Sequence[Step],
    advance: Callable[[Session, int], None],
    rows: Callable[[Session], TermState],
    *,
    within: Within = lambda *_: True,
    students: Collection[int] | None = None,
    rooms: Sequence[RoomStep] = (),
) -> tuple[list[Difference], int]:
    """Return the differences, and how many events of the ledger are not recorded yet.

    `advance` moves the image along the log, and `rows` reads the read models. The ledger is
    compared with the image at each step, unless it is ahead of the log.
    """
    with transaction() as session:
        # One snapshot of the log and the read models, even if recording goes on.
        session.connection(execution_options={"isolation_level": "REPEATABLE READ"})
        known, found = checkpoint(term, session), list[Difference]()
        read = max([steps[-1][0], *(each.seq for each in rooms)])
        unrecorded = max(0, read - known)
        if not unrecorded:
            found += of_ledger(image, steps, partial(advance, session), within)
            found += room_image.differences(image, rooms, partial(advance, session))
            found += idempotency.differences(session, term, students)
        advance(session, known)
        found += of_read_models(image, rows(session))
        return [*found, *of_log(image)], unrecorded


def unrecordable(term: int) -> list[Difference]:
    """Record the journal; return what blocks it permanently."""
    try:
        catch_up(term)
    except JournalGap as gap:
        return [{"where": JOURNAL_LOST, "what": str(gap)}]
    except (UnknownEvent, ValueError) as event:  # such as an entry that is not JSON
        return [{"where": UNREADABLE_ENTRY, "what": str(event)}]
    return []


def _unknown_keys(names: Collection[str]) -> list[Difference]:
    """Return a difference for each key that has no recording, comparison or restore rule."""
    unknown = (name for name in sorted(names) if split(name)[0] not in BY_NAME.keys() | NOT_IN_LOG)
    return [{"where": "ledger key", "what": name, "log": "unknown kind of key"} for name in unknown]
