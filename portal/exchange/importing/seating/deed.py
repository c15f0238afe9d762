"""The seats of an import, given and taken by the ledger, a few at a time, each of them once.

Removals come first. A change of section is one step, which takes nothing away where it is refused;
whoever finds no seat waits until others have left theirs, or goes round in a ring with them.
Whom a rule stops waits too: the student's next change may leave what it clashes with.
"""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field

from sqlalchemy import func, select

from portal.core.db import transaction
from portal.exchange.importing import book
from portal.exchange.importing.models import Import, ImportRow
from portal.exchange.importing.seating import asking, moves, rings
from portal.exchange.importing.seating.asking import Decided
from portal.exchange.importing.seating.moves import Move
from portal.exchange.importing.seating.rings import Shut
from portal.exchange.importing.seating.settling import LATE, Settled, settle
from portal.exchange.importing.tables import Progress
from portal.ledger.errors import KeyReused, NoRing
from portal.people.models import AuditEntry
from portal.seats.by_hand import FIRM

BATCH = 100  # a round trip: so long do the claims of others wait, about 10 ms
FULL = ["full"]


def seat(import_id: int, progress: Progress) -> None:
    """Do what is left of an import's seats; what the ledger refuses now is noted row by row.

    What has been done is not left any more. Of a batch that was asked for and not noted, the
    ledger says again what it has decided. Raises LedgerUnavailable.
    """
    with transaction() as session:
        found = session.get_one(Import, import_id)
    deed = _Deed(found, progress, _left(import_id))
    while _left(import_id):
        deed.go_round()
    _finish(import_id)


def _left(import_id: int) -> int:
    with transaction() as session:
        left = select(func.count()).where(ImportRow.import_id == import_id)
        return session.scalar(left) or 0


@dataclass
class _Deed:
    found: Import
    progress: Progress
    total: int
    done: int = 0
    shut: Shut = field(default_factory=set)  # since anything was done
    why: dict[int, list[str]] = field(default_factory=dict)  # by rows that a rule stops so far

    def go_round(self) -> None:
        """Do what can be done now. Each time something is: then others may find a seat."""
        before = self.done, len(self.shut)
        for removes in (True, False):
            self._ask_all(removes=removes)
        with transaction() as session:
            waiting = moves.waiting(session, self.found.id)
        stopped = [move for move in waiting if move.id in self.why]
        found = rings.find([move for move in waiting if move.id not in self.why], self.shut)
        for ring in found.rings:
            self._ask_ring(ring)
        if self.done > before[0]:
            self.shut.clear()  # what was refused may be had now
        elif len(self.shut) == before[1]:
            in_vain = [*found.vain, *stopped] or waiting[:1]
            self._settle(Settled.refused(each, self.why.get(each.id, FULL)) for each in in_vain)

    def _ask_all(self, *, removes: bool) -> None:
        after = 0
        while batch := self._next(after, removes=removes):
            after = batch[-1].id
            self._note(asking.ask(self.found, batch))

    def _next(self, after: int, *, removes: bool) -> list[Move]:
        with transaction() as session:
            return moves.following(session, self.found.id, after, BATCH, removes=removes)

    def _ask_ring(self, ring: list[Move]) -> None:
        """All of it is done, or those who kept it from that don't go round with the same again."""
        decided: list[Decided] = []
        with suppress(NoRing, KeyReused):  # a pool has changed; or it is known when next asked for
            decided = asking.ask_ring(self.found, ring)
        if decided and not any(codes for _, codes in decided):
            self._note(decided)
            return
        guilty = {move.id for move, codes in decided if codes} or {move.id for move in ring}
        pairs = zip(ring, [*ring[1:], ring[0]], strict=True)
        self.shut |= {(one.id, other.id) for one, other in pairs if one.id in guilty}
        self._note((move, codes) for move, codes in decided if codes)

    def _note(self, decided: Iterable[Decided]) -> None:
        self._settle([Settled.of(*each) for each in decided if not self._waits(*each)])

    def _waits(self, move: Move, codes: list[str]) -> bool:
        """Whether it is to be asked for again, as what refuses it may pass."""
        self.why.pop(move.id, None)
        if move.removes or not codes or not FIRM.isdisjoint(codes):
            return False
        if codes != FULL:
            self.why[move.id] = codes
        return True

    def _settle(self, settled: Iterable[Settled]) -> None:
        self.done += settle(self.found.id, list(settled))
        self.progress("seating", self.done, self.total)


def _finish(import_id: int) -> None:
    with transaction() as session:
        if not book.move(session, import_id, "done", of=("seating",), error=""):
            return
        found = session.get_one(Import, import_id)
        moved = {each: found.counts["enrollment"][each] for each in ("added", "removed")}
        session.add(
            AuditEntry(
                account_id=found.account_id,
                action="import.seat",
                subject=f"import:{import_id}",
                after=moved | {"refused": found.notes.get(LATE, 0)},
                reason="" if found.account_id else "command line",
            )
        )
        book.clear(session, import_id, book.SENT)
