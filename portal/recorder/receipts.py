"""Receipts: each decision is an event of its term, told by a short code that catches slips."""

from contextlib import suppress
from dataclasses import dataclass

from portal.backend import backend
from portal.core.cache import AWAY
from portal.core.db import transaction
from portal.ledger.errors import LedgerUnavailable
from portal.ledger.types import Reason, SeatCounts
from portal.recorder import fold, journal
from portal.recorder.fact import Fact, milliseconds

SYMBOLS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"  # Crockford's: no I, L, O, U
VALUES = {symbol: value for value, symbol in enumerate(SYMBOLS)} | {"O": 0, "I": 1, "L": 1}
SHORTEST = 4  # symbols of an event's number
MOST_TERM, MOST_SEQ = 2**31, 2**63
LONGEST = 40  # characters of a code as people type it


@dataclass(frozen=True)
class Receipt:
    """A decision about a student; `recorded` once PostgreSQL has it, which takes a moment."""

    term: int
    fact: Fact
    recorded: bool

    @property
    def code(self) -> str:
        return code(self.term, self.fact.seq)

    @property
    def at(self) -> int:
        """The ledger's time in ms."""
        return milliseconds(self.fact.at)

    @property
    def student(self) -> int:
        return int(self.fact.payload["student"])

    @property
    def section(self) -> int:
        return int(self.fact.payload["section"])

    @property
    def reasons(self) -> tuple[Reason, ...]:
        """Why not, as it was at that instant; none unless it was refused or passed over."""
        rows = self.fact.payload.get("reasons") or ()
        return tuple(Reason(row["code"], row.get("facts") or {}) for row in rows)

    @property
    def seats(self) -> SeatCounts | None:
        """The counts right after the decision; None where the ledger did not know the section."""
        counts = self.fact.payload.get("seats")
        return SeatCounts(section=self.section, seq=self.fact.seq, **counts) if counts else None


def find(text: str) -> Receipt | None:
    """The receipt of that code, None where nothing happened under it; raises ValueError."""
    term, seq = parse(text)
    if term >= MOST_TERM or seq >= MOST_SEQ:
        return None
    # The journal first: what is recorded by the time that the log is asked is in the log.
    kept = None
    with suppress(LedgerUnavailable):
        kept = journal.entry(backend().redis, term, seq)
    try:
        with transaction() as session:
            logged = next(fold.logged(session, term, seq - 1, seq), None)
    except AWAY:
        if kept is None:
            raise
        logged = None
    fact = logged or kept
    known = fact is not None and "student" in fact.payload
    return Receipt(term, fact, recorded=logged is not None) if fact and known else None


def code(term: int, seq: int) -> str:
    """The code of a term's event, such as `7-K3QX-9`: term, event, check symbol."""
    event = _symbols(seq).rjust(SHORTEST, SYMBOLS[0])
    return f"{_symbols(term)}-{event}-{_check(_symbols(term), event)}"


def parse(text: str) -> tuple[int, int]:
    """Term and event of a code as people type it; raises ValueError where it is mistyped."""
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
    """A sum in the field of 32, in which every place weighs twice its neighbour.

    So any one wrong symbol changes it, and any two neighbours that are swapped, the bounds of
    the groups among them, for which a zero stands.
    """
    total = 0
    for symbol in f"{term}{SYMBOLS[0]}{event}":
        total = _doubled(total ^ VALUES[symbol])
    return SYMBOLS[total]


def _doubled(value: int) -> int:
    """Twice an element of the field of 32, whose polynomial is x⁵ + x² + 1."""
    return value << 1 ^ (0b100101 if value & 0b10000 else 0)
