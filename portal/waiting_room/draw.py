"""The order in which those who came early stand, as anyone can recompute it.

Who comes first is told by the SHA-256 of seed, colon, request: its first 13 digits, the smaller the
earlier. The seed's own SHA-256, its fingerprint, is public before the window opens.
"""

import hashlib
import re
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from sqlalchemy import func, select

from portal.backend import backend
from portal.core.cache import Cache
from portal.core.db import transaction
from portal.ledger.function_library import prefix, translate_errors
from portal.people.models import AuditEntry
from portal.waiting_room import room
from portal.windows import draw_seeds

DIGEST, REQUEST = re.compile(r"[0-9a-f]{64}"), re.compile(r"[0-9a-f]{32}")
DIGITS = room.BITS // 4  # of a digest that count
HEAD = "# fingerprint "
FRESH_SECONDS = 60
KEPT = 32  # orders in a process, each of some MB at most


@dataclass(frozen=True)
class Draw:
    """What is published of an order; before the opening the fingerprint alone."""

    fingerprint: str
    seed: str = ""
    requests: tuple[str, ...] = ()

    @cached_property
    def true_seed(self) -> bool:
        """Whether the seed is the one whose fingerprint was published."""
        return sha256(self.seed) == self.fingerprint

    @cached_property
    def in_order(self) -> bool:
        """Whether the requests stand as the seed says."""
        ranks = [sha256(f"{self.seed}:{request}")[:DIGITS] for request in self.requests]
        return ranks == sorted(ranks)

    @property
    def agrees(self) -> bool:
        """Whether both are so."""
        return self.true_seed and self.in_order

    @cached_property
    def text(self) -> str:
        """The order as a text: the seed, then a request a line."""
        lines = (f"{HEAD}{self.fingerprint}", self.seed, *self.requests)
        return "".join(f"{line}\n" for line in lines if line)


def sha256(text: str) -> str:
    """In hex, as `sha256sum` prints it."""
    return hashlib.sha256(text.encode()).hexdigest()


def published(term: int, window: int, *, opened: bool) -> Draw:
    """What may be known of a window's order by now; once it has opened, as last read.

    The order of those who came early no longer changes then, and anyone may ask for it, so a
    process reads and checks it once in FRESH_SECONDS, however many ask.
    """
    if not opened:
        return Draw(draw_seeds.commitment(term, window))
    return _drawn.get((term, window))


def position_of(term: int, window: int, student: int) -> int:
    """Where a student's request stands in the order of an open window, from 1; 0 for none."""
    return _places.get((term, window)).get(student, 0)


def forget() -> None:
    """Read every order when it is next asked for."""
    _drawn.clear()
    _places.clear()


def _read(of: tuple[int, int]) -> Draw:
    return Draw(draw_seeds.commitment(*of), draw_seeds.seed(*of), tuple(room.drawn_requests(*of)))


def _owners(of: tuple[int, int]) -> dict[int, int]:
    """The places of an order by student."""
    term, window = of
    requests = _drawn.get(of).requests
    if not requests:
        return {}
    with translate_errors():
        owners: Any = backend().redis.hmget(f"{prefix(term)}:room:{window}:who", requests)
    return {int(it.partition(b":")[0]): at for at, it in enumerate(owners, 1) if it}


def audited_commitments(term: int, window: int) -> list[tuple[datetime, str]]:
    """Every fingerprint that the audit has of the window, and since when; the oldest first."""
    kept = AuditEntry.after["fingerprint"].astext
    query = (
        select(func.min(AuditEntry.at), kept)
        .where(AuditEntry.subject == f"term:{term} window:{window}", kept.is_not(None))
        .group_by(kept)
        .order_by(func.min(AuditEntry.at))
    )
    with transaction() as session:
        return [(at, fingerprint) for at, fingerprint in session.execute(query)]


def parse(text: str) -> Draw:
    """The order in such a text; raises ValueError where it is none, or its seed is not told yet."""
    fingerprint, seed, *requests = text.removeprefix(HEAD).split()
    whole = DIGEST.fullmatch(fingerprint) and DIGEST.fullmatch(seed)
    if not (text.startswith(HEAD) and whole and all(map(REQUEST.fullmatch, requests))):
        raise ValueError("This is no order.")
    return Draw(fingerprint, seed, tuple(requests))


_drawn: Cache[tuple[int, int], Draw] = Cache(_read, FRESH_SECONDS, KEPT)
_places: Cache[tuple[int, int], dict[int, int]] = Cache(_owners, FRESH_SECONDS, KEPT)
