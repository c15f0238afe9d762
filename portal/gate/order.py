"""The order in which those who came early stand, as anyone can recompute it.

Who comes first is told by the SHA-256 of seed, colon, request: its first 13 digits, the smaller the
earlier. The seed's own SHA-256, its fingerprint, is public before the window opens.
"""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import func, select

from portal.backend import backend
from portal.db import transaction
from portal.gate import room
from portal.people.models import AuditEntry
from portal.seats.library import prefix, reached

DIGEST, REQUEST = re.compile(r"[0-9a-f]{64}"), re.compile(r"[0-9a-f]{32}")
DIGITS = room.BITS // 4  # of a digest that count
HEAD = "# fingerprint "


@dataclass(frozen=True)
class Order:
    """What is published of an order; before the opening the fingerprint alone."""

    fingerprint: str
    seed: str = ""
    requests: tuple[str, ...] = ()

    @property
    def true_seed(self) -> bool:
        """Whether the seed is the one whose fingerprint was published."""
        return sha256(self.seed) == self.fingerprint

    @property
    def in_order(self) -> bool:
        """Whether the requests stand as the seed says."""
        ranks = [sha256(f"{self.seed}:{request}")[:DIGITS] for request in self.requests]
        return ranks == sorted(ranks)

    @property
    def agrees(self) -> bool:
        """Whether both are so."""
        return self.true_seed and self.in_order


def sha256(text: str) -> str:
    """In hex, as `sha256sum` prints it."""
    return hashlib.sha256(text.encode()).hexdigest()


def published(term: int, window: int, *, opened: bool) -> Order:
    """What may be known of a window's order by now."""
    fingerprint = room.commitment(term, window)
    if not opened:
        return Order(fingerprint)
    return Order(fingerprint, room.seed(term, window), tuple(room.order(term, window)))


def place_of(term: int, window: int, student: int, requests: Sequence[str]) -> int:
    """Where a student's request stands among these, from 1; 0 where it does not."""
    if not requests:
        return 0
    with reached():
        owners: Any = backend().redis.hmget(f"{prefix(term)}:room:{window}:who", requests)
    mine = f"{student}:".encode()
    return next((at for at, it in enumerate(owners, 1) if it and it.startswith(mine)), 0)


def noted(term: int, window: int) -> list[tuple[datetime, str]]:
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


def write(order: Order) -> str:
    """The order as a text: the seed, then a request a line."""
    lines = (f"{HEAD}{order.fingerprint}", order.seed, *order.requests)
    return "".join(f"{line}\n" for line in lines if line)


def read(text: str) -> Order:
    """The order in such a text; raises ValueError where it is none, or its seed is not told yet."""
    fingerprint, seed, *requests = text.removeprefix(HEAD).split()
    whole = DIGEST.fullmatch(fingerprint) and DIGEST.fullmatch(seed)
    if not (text.startswith(HEAD) and whole and all(map(REQUEST.fullmatch, requests))):
        raise ValueError("This is no order.")
    return Order(fingerprint, seed, tuple(requests))
