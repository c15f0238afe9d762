"""The draw: the order of the students who came before a window opened. Anyone can recompute it.

The rank of a request is the first 13 digits of the SHA-256 of seed, colon, request. A smaller rank
comes first. The seed's own SHA-256, the commitment, is public before the window opens. If a public
value was used, the seed is the SHA-256 of this one, colon, the value; and students are ranked by
pseudonyms that were fixed beforehand (`draw_codes`). Those without one come after the others.
"""

import re
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from sqlalchemy import func, select

from portal.allocation.proof import canonical, seed_of, sha256
from portal.backend import backend
from portal.core.audit_trail import AuditEntry
from portal.core.cache import Cache
from portal.core.db import transaction
from portal.ledger.function_library import translate_errors
from portal.waiting_room import draw_codes
from portal.waiting_room.draw_codes import FixedCodes
from portal.windows import draw_seeds
from portal.windows.draw_seeds import BITS, room_key

DIGEST, REQUEST = re.compile(r"[0-9a-f]{64}"), re.compile(r"[0-9a-f]{32}")
DIGITS = BITS // 4
HEAD = "# fingerprint "
FRESH_SECONDS = 60
KEPT = 32  # draws in a process, each of some MB at most


@dataclass(frozen=True)
class Draw:
    """The public part of a draw; before the opening only the commitment.

    With a public value, `line` has pseudonyms in place of requests, and is blank where a student
    has none: they must come last.
    """

    commitment: str
    seed: str = ""
    line: tuple[str, ...] = ()
    fixed: FixedCodes | None = None
    public_value: str = ""

    @cached_property
    def named(self) -> tuple[str, ...]:
        """Return the line without those who have no pseudonym."""
        return tuple(filter(None, self.line))

    @property
    def others(self) -> int:
        """Return how many students have no pseudonym."""
        return len(self.line) - len(self.named)

    @cached_property
    def has_true_seed(self) -> bool:
        """Return whether the seed matches the commitment."""
        return sha256(self.seed) == self.commitment

    @cached_property
    def keys(self) -> list[str]:
        """Return the keys of the line, which sort it, without those who have no pseudonym."""
        seed = seed_of(self.seed, self.public_value) if self.public_value else self.seed
        return [sha256(f"{seed}:{each}")[:DIGITS] for each in self.named]

    @cached_property
    def is_in_order(self) -> bool:
        """Return whether the line is in the order that follows from the seed."""
        last = self.line[len(self.named) :]
        return self.keys == sorted(self.keys) and not any(last)

    @cached_property
    def is_fixed(self) -> bool:
        """Return whether the line has only pseudonyms that were fixed, each once, if any were."""
        if not self.public_value:
            return True
        known, names = self.fixed, set(self.named)
        return known is not None and (
            known.is_under_root
            and known.settings["commitment"] == self.commitment
            and len(names) == len(self.named)
            and names <= set(known.pseudonyms)
        )

    @property
    def is_fair(self) -> bool:
        """Return whether seed, codes and order are all right."""
        return self.has_true_seed and self.is_fixed and self.is_in_order

    @cached_property
    def text(self) -> str:
        """Return the draw as a text: commitment, seed, then one request a line."""
        lines = (f"{HEAD}{self.commitment}", self.seed, *self.line)
        return "".join(f"{line}\n" for line in lines if line)

    @cached_property
    def file(self) -> bytes:
        """Return the JSON that `verify_root.py` checks; empty without a public value."""
        if self.fixed is None:
            return b""
        keys = dict(zip(self.named, self.keys, strict=True))
        more = {
            "secret": self.seed,
            "public_value": self.public_value,
            "line": [(each, keys.get(each, "")) for each in self.line],
        }
        return canonical(self.fixed.file | more).encode()


def drawn_requests(term: int, window: int) -> list[str]:
    """Return the requests that came early, in the order of the draw."""
    with translate_errors():
        found: Any = (
            backend()
            .ledger.redis(term)
            .zrange(f"{room_key(term, window)}:line", "-inf", "(1", byscore=True)
        )
    return [each.decode() for each in found]


def arrivals(term: int, window: int) -> tuple[list[int], dict[int, int]]:
    """Return the students who came early, in order, and when (ms) each later one came."""
    base = room_key(term, window)
    with translate_errors(), backend().ledger.redis(term).pipeline(transaction=False) as pipe:
        pipe.zrange(f"{base}:line", 0, -1, withscores=True)
        pipe.hgetall(f"{base}:who")
        line, who = pipe.execute()
    early: list[int] = []
    late: dict[int, int] = {}
    for request, score in line:
        student, at = map(int, who[request].split(b":"))
        if score < 1:
            early.append(student)
        else:
            late.setdefault(student, at)
    return early, late


def published(term: int, window: int, *, opened: bool) -> Draw:
    """Return the public part of a window's draw.

    Once the window has opened, the draw no longer changes, and anyone may ask for it. So a process
    reads and checks it once in FRESH_SECONDS.
    """
    return _draws.get((term, window)) if opened else Draw(draw_seeds.commitment(term, window))


def position_of(term: int, window: int, student: int) -> int:
    """Return the position of a student in the draw of an open window, from 1; 0 for none."""
    return _positions.get((term, window)).get(student, 0)


def forget() -> None:
    """Clear the cache: every draw is read again when it is next needed."""
    _draws.clear()
    _positions.clear()


def audited_commitments(term: int, window: int) -> list[tuple[datetime, str]]:
    """Return each commitment in the audit trail of a window, and since when; the oldest first."""
    commitment = AuditEntry.after["fingerprint"].astext
    query = (
        select(func.min(AuditEntry.at), commitment)
        .where(AuditEntry.subject == f"term:{term} window:{window}", commitment.is_not(None))
        .group_by(commitment)
        .order_by(func.min(AuditEntry.at))
    )
    with transaction() as session:
        return [(at, found) for at, found in session.execute(query)]


def parse(text: str) -> Draw:
    """Return the draw in a `Draw.text`; raise ValueError if it is not one or has no seed yet."""
    found, drawn_seed, *requests = text.removeprefix(HEAD).split()
    whole = DIGEST.fullmatch(found) and DIGEST.fullmatch(drawn_seed)
    if not (text.startswith(HEAD) and whole and all(map(REQUEST.fullmatch, requests))):
        raise ValueError("This is no order.")
    return Draw(found, drawn_seed, tuple(requests))


def _read(of: tuple[int, int]) -> Draw:
    commitment, seed = draw_seeds.commitment(*of), draw_seeds.seed(*of)
    value = draw_codes.public_value(*of)
    if not value:
        return Draw(commitment, seed, tuple(drawn_requests(*of)))
    fixed, students = draw_codes.fixed(of[1]), list(_read_positions(of))
    line = tuple(fixed.by_student.get(each, "") for each in students)
    return Draw(commitment, seed, line, fixed, value)


def _read_positions(of: tuple[int, int]) -> dict[int, int]:
    """Return the positions of a draw by student, the first one first."""
    requests = drawn_requests(*of)
    if not requests:
        return {}
    with translate_errors():
        owners: Any = backend().ledger.redis(of[0]).hmget(f"{room_key(*of)}:who", requests)
    return {int(each.partition(b":")[0]): at for at, each in enumerate(owners, 1) if each}


_draws: Cache[tuple[int, int], Draw] = Cache(_read, FRESH_SECONDS, KEPT)
_positions: Cache[tuple[int, int], dict[int, int]] = Cache(_read_positions, FRESH_SECONDS, KEPT)
