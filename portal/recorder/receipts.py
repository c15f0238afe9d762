"""Receipts: each decision is an event of its term, with a short code that detects typing errors."""

from contextlib import suppress
from dataclasses import dataclass

from sqlalchemy import not_, or_, select, tuple_
from sqlalchemy.orm import aliased

from portal.catalog.models import Term
from portal.core.cache import AWAY
from portal.core.checkpoints import checkpoint
from portal.core.db import transaction
from portal.core.moments import milliseconds
from portal.ledger.errors import LedgerUnavailable
from portal.ledger.types import Reason, SeatCounts
from portal.people import permissions
from portal.recorder import event_log, journal
from portal.recorder.events import Event
from portal.recorder.models import EVENT_COLUMNS, LoggedEvent

SYMBOLS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"  # Crockford's: no I, L, O, U
VALUES = {symbol: value for value, symbol in enumerate(SYMBOLS)} | {"O": 0, "I": 1, "L": 1}
SHORTEST = 4  # symbols of an event's number
MOST_TERM, MOST_SEQ = 2**31, 2**63
LONGEST = 40  # characters of a code as people type it

PAGE = 30
FRESH = 200  # journal events that may not be recorded yet
REFUSED = ("refused", "passed_over")
OF_STUDENTS = (*REFUSED, "enrolled", "waitlisted", "swap_planned", "dropped", "left", "promoted")

EventKey = tuple[int, int]  # term and event


@dataclass(frozen=True)
class Receipt:
    """A decision about a student; `recorded` is true once PostgreSQL has it, after a moment."""

    term: int
    event: Event
    recorded: bool

    @property
    def code(self) -> str:
        return code(self.term, self.event.seq)

    @property
    def at(self) -> int:
        """Return the ledger's time in ms."""
        return milliseconds(self.event.at)

    @property
    def student(self) -> int:
        return int(self.event.payload["student"])

    @property
    def section(self) -> int:
        return int(self.event.payload["section"])

    @property
    def reasons(self) -> tuple[Reason, ...]:
        """Return the reasons at that moment; none unless it was refused or skipped."""
        rows = self.event.payload.get("reasons") or ()
        return tuple(Reason(row["code"], row.get("facts") or {}) for row in rows)

    @property
    def permitted(self) -> list[str]:
        """Return the codes of the rules that a permission lifted; none in older events."""
        return list(self.event.context.get("permitted") or ())

    @property
    def applications(self) -> list[int]:
        """Return the approved applications that the permission comes from, as far as known."""
        if not self.permitted:
            return []
        with suppress(*AWAY), transaction() as session:
            return permissions.applications_behind(
                session, self.student, self.section, self.permitted, self.event.at
            )
        return []

    @property
    def seats(self) -> SeatCounts | None:
        """Return the counts right after the decision; None for an unknown section."""
        counts = self.event.payload.get("seats")
        return SeatCounts.of_event(self.section, self.event.seq, counts) if counts else None


def find(text: str) -> Receipt | None:
    """Return the receipt with that code, or None; raise ValueError if it is mistyped."""
    term, seq = parse(text)
    if term >= MOST_TERM or seq >= MOST_SEQ:
        return None
    # Read the journal first: events that are recorded meanwhile are then in the log.
    stored = logged = None
    with suppress(LedgerUnavailable):
        stored = journal.find(term, seq)
    try:
        with transaction() as session:
            logged = next(event_log.read_events(session, term, seq - 1, seq), None)
    except AWAY:
        if stored is None:
            raise
    event = logged or stored
    if event is None or "student" not in event.payload:
        return None
    return Receipt(term, event, recorded=logged is not None)


def code(term: int, seq: int) -> str:
    """Return the code of a term's event, such as `7-K3QX-9`: term, event, check symbol."""
    event = _symbols(seq).rjust(SHORTEST, SYMBOLS[0])
    return f"{_symbols(term)}-{event}-{_check(_symbols(term), event)}"


def parse(text: str) -> EventKey:
    """Return term and event of a typed code; raise ValueError if it is mistyped."""
    if len(text) > LONGEST:
        raise ValueError("no code is that long")
    try:
        term, event, check = text.strip().upper().replace("-", " ").split(" ")
        found = _number(term), _number(event)
        typed = "".join(SYMBOLS[VALUES[symbol]] for symbol in term + event + check)
    except KeyError as error:
        raise ValueError(f"no symbol of a code: {error}") from None
    if typed != code(*found).replace("-", "") or len(check) != 1:
        raise ValueError(f"no code, perhaps mistyped: {text}")
    return found


def _symbols(number: int) -> str:
    high, low = divmod(number, len(SYMBOLS))
    return (_symbols(high) if high else "") + SYMBOLS[low]


def _number(symbols: str) -> int:
    number = 0
    for symbol in symbols:
        number = number * len(SYMBOLS) + VALUES[symbol]
    return number


def _check(term: str, event: str) -> str:
    """Return the check symbol: a sum in the field GF(32), with weights that double.

    It changes with any one wrong symbol, and with any two neighbors swapped. A zero stands for the
    boundary between the groups, so swaps across it count too.
    """
    total = 0
    for symbol in f"{term}{SYMBOLS[0]}{event}":
        total ^= VALUES[symbol]
        # Twice an element of GF(32), whose polynomial is x⁵ + x² + 1.
        total = total << 1 ^ (0b100101 if total & 0b10000 else 0)
    return SYMBOLS[total]


@dataclass(frozen=True)
class HistoryPage:
    """Receipts, newest first; `more` if there are older ones."""

    receipts: list[Receipt]
    more: bool


def history(
    student: int, term: int | None = None, *, before: EventKey | None = None, refused: bool = False
) -> HistoryPage:
    """Return a page of a student's receipts, of a term or of all.

    They are older than `before`; with `refused`, refusals only. A swap is one receipt. Receipts
    that are still being recorded are on the first page of a term.
    """
    names = REFUSED if refused else OF_STUDENTS
    # Read the journal first: events that are recorded meanwhile are then in the log.
    fresh = [] if before or term is None else _fresh(student, term, names)
    logged = _logged(student, term, before, names)
    known = {each.event.seq for each in logged}
    found = [each for each in fresh if each.event.seq not in known] + logged
    found.sort(key=lambda each: (each.at, each.term, each.event.seq), reverse=True)
    return HistoryPage(found[:PAGE], more=len(found) > PAGE)


def _fresh(student: int, term: int, names: tuple[str, ...]) -> list[Receipt]:
    """Return the student's latest receipts that are not recorded yet."""
    with suppress(LedgerUnavailable):
        return [
            Receipt(term, event, recorded=False)
            for event in journal.latest(term, FRESH, checkpoint(term))
            if event.payload.get("student") == student
            and event.name in names
            and not ("swap" in event.payload and event.name == "dropped")
        ]
    return []


def _logged(
    student: int, term: int | None, before: EventKey | None, names: tuple[str, ...]
) -> list[Receipt]:
    """Return one more than a page of recorded receipts."""
    order = LoggedEvent.occurred_at, LoggedEvent.term_id, LoggedEvent.seq
    # The event of the new seat covers both halves of a swap.
    whole = or_(LoggedEvent.name != "dropped", not_(LoggedEvent.payload.has_key("swap")))
    found = (
        select(LoggedEvent.term_id, *EVENT_COLUMNS)
        .where(LoggedEvent.student_id == student, LoggedEvent.name.in_(names), whole)
        .order_by(*(each.desc() for each in order))
        .limit(PAGE + 1)
    )
    if term is None:
        found = found.join(Term, Term.id == LoggedEvent.term_id).where(Term.deleted_at.is_(None))
    else:
        found = found.where(LoggedEvent.term_id == term)
    if before:
        at = aliased(LoggedEvent)
        last = select(at.occurred_at, at.term_id, at.seq).where(
            at.term_id == before[0], at.seq == before[1]
        )
        found = found.where(tuple_(*order) < last.scalar_subquery())
    with transaction() as session:
        return [Receipt(row[0], Event(*row[1:]), recorded=True) for row in session.execute(found)]
