"""Invariant 5: the ledger, the event log and the read models tell of the same term."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from time import monotonic
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
from portal.recorder.journal import JournalGap, last_seq
from portal.recorder.projections import UnknownEvent
from portal.recorder.recorder import drain

PATIENCE = 20.0  # seconds without getting on: PostgreSQL ends a drainer that has frozen sooner
LOST, UNREAD = "journal", "journal entry"

Report = dict[str, Any]


def audit(name: str = "", keep: Callable[[int, Report], None] | None = None) -> Report:
    """What differs in the term of that name, or in every term; raises LookupError.

    The report of each is given to `keep`.
    """
    reports = []
    for number, term in terms_named(name):
        report = audit_term(number)
        if keep:
            keep(number, report)
        reports.append({"term": term} | report)
    return {"clean": all(report["clean"] for report in reports), "terms": reports}


def audit_term(term: int, tell: ProgressCallback = no_progress) -> Report:
    """What differs in a term; claims may go on meanwhile. Tells how far it has come.

    The ledger is not compared where it is ahead of what can be recorded: then it says by how
    many events (`unrecorded`), and that is no difference, but not `clean` either.
    """
    tell("recording", 0, 0)
    broken = unrecordable(term)
    image = Image()
    known = replay(term, image, checkpoint(term), tell, "comparing")
    tell("reading", 0, 0)
    names = ledger_keys.key_names(backend().redis, term)
    told = {key for key in names if split(key)[0] in BY_NAME} | image.keys().keys()
    taken = ledger_keys.read_keys(backend().redis, term, told)
    broken = broken or unrecordable(term)
    with transaction() as session:
        # One view of the log and of the read models, however far they have come meanwhile.
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
    """Keys that nothing here knows how to record, compare or restore."""
    for name in sorted(names):
        if split(name)[0] not in BY_NAME.keys() | APART:
            yield {"where": "ledger key", "what": name, "log": "no kind of key that is known"}


@dataclass
class _Comparison:
    """The image as of event `at`, which is moved on along the log."""

    session: Session
    term: int
    image: Image
    at: int
    tell: ProgressCallback
    unrecorded: int = 0

    def differences(self, taken: Sequence[Step]) -> list[Difference]:
        """Of the ledger at each step, then of the read models with the whole log.

        Of a ledger that is ahead of the log nothing can be told.
        """
        known = checkpoint(self.term, self.session)
        self.unrecorded = max(0, taken[-1][0] - known)
        self.tell("comparing", self.at, known)
        found = [] if self.unrecorded else list(of_ledger(self.image, taken, self.advance))
        self.advance(known)
        found += of_read_models(self.image, read_models.load_all(self.session, self.term))
        return found + list(of_log(self.image))

    def advance(self, through: int) -> None:
        """Fold the log until that event."""
        for after, until in strides(self.at, through):
            self.tell("comparing", after, through)
            fold(self.session, self.term, self.image, after, until)
        self.at = max(self.at, through)


def catch_up(term: int) -> bool:
    """Have recorded what the journal holds now; False where the recorder does not get on.

    Raises JournalGap or UnknownEvent where it can never be.
    """
    through, known, until = last_seq(backend().redis, term), 0, 0.0
    while True:
        drain(term, seconds=0)
        before, known = known, checkpoint(term)
        if known >= through:
            return True
        if known > before or not until:
            until = monotonic() + PATIENCE
        elif monotonic() > until:
            return False


def unrecordable(term: int) -> list[Difference]:
    """Have the journal recorded; gives what stands in the way of that for good."""
    try:
        catch_up(term)
    except JournalGap as gap:
        return [{"where": LOST, "what": str(gap)}]
    except (UnknownEvent, ValueError) as event:  # such as an entry that is no JSON
        return [{"where": UNREAD, "what": str(event)}]
    return []
