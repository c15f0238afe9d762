"""Audit (invariant 5): compare the ledger, the event log and the read models of a term."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy.orm import Session

from portal.backend import backend
from portal.catalog.term_catalog import terms_named
from portal.core.checkpoints import checkpoint
from portal.core.db import transaction
from portal.recorder import idempotency, read_models
from portal.recorder.consistency import ledger_keys
from portal.recorder.consistency.differences import Difference, of_ledger, of_log, of_read_models
from portal.recorder.consistency.ledger_image import (
    APART,
    BY_NAME,
    Image,
    split,
)
from portal.recorder.consistency.ledger_keys import Step
from portal.recorder.event_log import ProgressCallback, fold, no_progress, replay, strides
from portal.recorder.journal import JournalGap
from portal.recorder.projections import UnknownEvent
from portal.recorder.recorder import catch_up

LOST, UNREAD = "journal", "journal entry"

Report = dict[str, Any]


def audit(name: str = "", keep: Callable[[int, Report], None] | None = None) -> Report:
    """Return the differences of the named term, or of every term.

    Each term's report is passed to `keep`. Raises LookupError.
    """
    reports = []
    for number, term in terms_named(name):
        report = audit_term(number)
        if keep:
            keep(number, report)
        reports.append({"term": term} | report)
    return {"clean": all(report["clean"] for report in reports), "terms": reports}


def audit_term(term: int, tell: ProgressCallback = no_progress) -> Report:
    """Return the differences of a term, and report progress.

    Claims may go on meanwhile. If the ledger is ahead of what can be recorded, it is not compared.
    The report then gives the number of events as `unrecorded`: no difference, but not `clean`
    either.
    """
    tell("recording", 0, 0)
    broken = unrecordable(term)
    image = Image()
    known = replay(term, image, checkpoint(term), tell, "comparing")
    names = ledger_keys.key_names(backend().redis, term)
    tell("reading", 0, 0)
    told = {key for key in names if split(key)[0] in BY_NAME} | image.keys().keys()
    # No event tells who is set aside, so a section's first such student would be missed.
    told |= {f"aside:{section}" for section in image.seats}
    taken = ledger_keys.read_keys(backend().redis, term, told)
    broken = broken or unrecordable(term)
    with transaction() as session:
        # One snapshot of the log and the read models, even if recording goes on.
        session.connection(execution_options={"isolation_level": "REPEATABLE READ"})
        comparison = _Comparison(session, term, image, known, tell)
        differences = [*broken, *_unknown(names), *comparison.differences(taken)]
        if not comparison.unrecorded:
            differences += idempotency.differences(session, term)
            differences += idempotency.strays(session, term, names, comparison.at)
    return {
        "events": comparison.at,
        "unrecorded": comparison.unrecorded,
        "differences": differences,
        "clean": not differences and not comparison.unrecorded,
    }


def _unknown(names: Iterable[str]) -> Iterator[Difference]:
    """Yield a difference for each key that has no recording, comparison or restore rule."""
    for name in sorted(names):
        if split(name)[0] not in BY_NAME.keys() | APART:
            yield {"where": "ledger key", "what": name, "log": "no kind of key that is known"}


@dataclass
class _Comparison:
    """Comparison with the image as of event `at`, which moves forward along the log."""

    session: Session
    term: int
    image: Image
    at: int
    tell: ProgressCallback
    unrecorded: int = 0

    def differences(self, taken: Sequence[Step]) -> list[Difference]:
        """Compare the ledger at each step, then the read models with the whole log.

        A ledger that is ahead of the log cannot be compared.
        """
        known = checkpoint(self.term, self.session)
        self.unrecorded = max(0, taken[-1][0] - known)
        self.tell("comparing", self.at, known)
        found = [] if self.unrecorded else list(of_ledger(self.image, taken, self.advance))
        self.advance(known)
        found += of_read_models(self.image, read_models.load_all(self.session, self.term))
        return found + list(of_log(self.image))

    def advance(self, through: int) -> None:
        """Apply the log's events through that number."""
        for after, until in strides(self.at, through):
            self.tell("comparing", after, through)
            fold(self.session, self.term, self.image, after, until)
        self.at = max(self.at, through)


def unrecordable(term: int) -> list[Difference]:
    """Record the journal; return what blocks it permanently."""
    try:
        catch_up(term)
    except JournalGap as gap:
        return [{"where": LOST, "what": str(gap)}]
    except (UnknownEvent, ValueError) as event:  # such as an entry that is not JSON
        return [{"where": UNREAD, "what": str(event)}]
    return []
