"""What the clock does every second: whatever is due, and whatever a lost call left undone."""

from dataclasses import dataclass, field
from time import monotonic

from sqlalchemy import func, select

from portal.backend import backend
from portal.catalog.models import Section, Term
from portal.db import transaction
from portal.notices.due import due
from portal.record.models import Checkpoint
from portal.record.wake import wake
from portal.seats.library import prefix, reached

PATIENCE = 5.0  # seconds until a worker whose work has not moved is called again


@dataclass(frozen=True)
class LiveTerm:
    """A term as PostgreSQL knows it."""

    id: int
    version: int
    recorded: int
    sections: int


@dataclass(frozen=True)
class Standing:
    """A term as the ledger knows it."""

    seq: int
    vacant: int
    sections: int


@dataclass
class Sweeper:
    """Remembers the terms, so that windows turn while PostgreSQL is away, and its calls."""

    terms: list[LiveTerm] = field(default_factory=list)
    news: dict[int, int] = field(default_factory=dict)  # terms with notices to make or mails due
    versions: dict[int, int] = field(default_factory=dict)  # of the catalogue, as last told
    calls: dict[tuple[int, str], tuple[int, float]] = field(default_factory=dict)  # why, when

    def look(self) -> None:
        """Read anew which terms there are, how far each is recorded, and who is to be told."""
        self.terms = live_terms()
        self.news = due([term.id for term in self.terms])

    def turn(self) -> None:
        """Let the ledger tell of windows that have opened or closed."""
        for term, standing in zip(self.terms, standings(self.terms), strict=True):
            if standing.seq:
                backend().ledger.turn(term.id)

    def call(self) -> None:
        """Call the workers that have something to do."""
        for term, standing in zip(self.terms, standings(self.terms), strict=True):
            if standing.seq > term.recorded:
                self._call(term, "record", term.recorded)
            if standing.vacant:
                self._call(term, "promote", standing.seq)
            if term.id in self.news:
                self._call(term, "notify", self.news[term.id])
            if standing.sections < term.sections or self.versions.get(term.id) != term.version:
                self.versions[term.id] = term.version
                self._call(term, "maintain", term.version)

    def _call(self, term: LiveTerm, worker: str, why: int) -> None:
        """Call a worker, but one that could change nothing the last time only now and then."""
        before, when = self.calls.get((term.id, worker), (-1, 0.0))
        if why != before or monotonic() - when > PATIENCE:
            self.calls[term.id, worker] = why, monotonic()
            wake(term.id, [worker])


def live_terms() -> list[LiveTerm]:
    """Every term that is not deleted."""
    sections = (
        select(func.count()).where(Section.term_id == Term.id).correlate(Term).scalar_subquery()
    )
    recorded = func.coalesce(Checkpoint.seq, 0)
    found = (
        select(Term.id, Term.catalog_version, recorded, sections)
        .outerjoin(Checkpoint)
        .where(Term.deleted_at.is_(None))
        .order_by(Term.id)
    )
    with transaction() as session:
        return [LiveTerm(*row) for row in session.execute(found)]


def standings(terms: list[LiveTerm]) -> list[Standing]:
    """How the ledger stands in each term, in one round trip."""
    with reached(), backend().redis.pipeline(transaction=False) as pipe:
        for term in terms:
            pipe.get(f"{prefix(term.id)}:seq")
            pipe.scard(f"{prefix(term.id)}:vacant")
            pipe.hlen(f"{prefix(term.id)}:seats")
        replies = iter(pipe.execute())
    return [Standing(int(next(replies) or 0), next(replies), next(replies)) for _ in terms]
