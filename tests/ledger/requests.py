"""Requests of tests to the ledger; what a test does not care about is filled in."""

import json
from typing import Any
from uuid import uuid4

from portal.core.ledger_servers import OneServer
from portal.core.redis_clients import commands
from portal.ledger.client import Ledger
from portal.ledger.types import (
    AdminAdjustment,
    Candidate,
    Change,
    Claim,
    Decision,
    LedgerChoice,
    Meeting,
    Promotion,
    SectionSpec,
    SkipRule,
    SubmissionResult,
)
from tests.ledger_claims import context_of, send_claim, submit

TERM = 7
OPEN = 1  # the open window
MINUTE = 60_000
DAY = 24 * 60 * MINUTE


class Desk:
    """The ledger of one term, called as a web process calls it."""

    def __init__(self, address: str, **settings: Any) -> None:
        self.redis = commands(address, **settings)
        self.ledger = Ledger(OneServer(self.redis))

    def open_window(self, window: int = OPEN) -> Change:
        """Schedule a window that opened a minute ago and closes in an hour."""
        now = self.ledger.now()
        return self.put_window(window, now - MINUTE, now + 60 * MINUTE)

    def put_window(self, window: int, opens: int, closes: int, name: str = "Selection") -> Change:
        return self.ledger.put_window(TERM, window, name, opens, closes, {}, "registrar")

    def section(
        self, section: int, capacity: int = 2, *, waitlist: int = 5, version: int = 1, **fields: Any
    ) -> Change:
        """Store a section of 4 credits without meetings; its course has the same number."""
        settings: dict[str, Any] = {
            "prior": 0,
            "status": "OPEN",
            "course": section,
            "credits_min": 400,
            "credits_max": 400,
            "times": (),
            **fields,
        }
        spec = SectionSpec(section, capacity, waitlist, version=version, **settings)
        return self.ledger.put_section(TERM, spec)

    def wait_for_next_millisecond(self) -> None:
        """Decisions of the same millisecond count as one (`waiting_corequisites`)."""
        now = self.ledger.now()
        while self.ledger.now() == now:
            pass

    def claim(self, student: int, section: int, **fields: Any) -> Decision:
        settings: dict[str, Any] = {
            "credits": 400,
            "credit_limit": 2100,
            "windows": [OPEN],
            "wait": True,
            "actor": f"student:{student}",
            "correlation": "c",
            **fields,
        }
        return send_claim(self.ledger, TERM, student=student, section=section, **settings)

    def submit(self, student: int, *lines: LedgerChoice, **fields: Any) -> SubmissionResult:
        settings: dict[str, Any] = {
            "credit_limit": 2100,
            "windows": [OPEN],
            "actor": f"student:{student}",
            "correlation": "c",
            **fields,
        }
        return submit(self.ledger, TERM, lines, student=student, **settings)

    def drop(self, student: int, section: int, **fields: Any) -> Decision:
        settings: dict[str, Any] = {
            "windows": [OPEN],
            "days": self.days(),
            "drop_limit": 3,
            "actor": f"student:{student}",
            "correlation": "c",
            **fields,
        }
        context = context_of(TERM, student, settings)
        return self.ledger.drop(context, section, **settings)

    def adjust(
        self, student: int, add: int | None = None, drop: int | None = None, **fields: Any
    ) -> Decision:
        """Decide an adjustment; `part` replaces the added section of 4 credits."""
        settings: dict[str, Any] = {
            "overrides": (),
            "reason": "a late request",
            "idempotency_key": None,
            "actor": "account:9",
            "correlation": "c",
        }
        settings |= {name: fields.pop(name) for name in settings.keys() & fields.keys()}
        return self.ledger.adjust(TERM, self.adjustment(student, add, drop, **fields), **settings)

    def adjust_batch(
        self, *moves: AdminAdjustment, keys: str = "", **fields: Any
    ) -> list[Decision]:
        """Decide several adjustments in one step, each with its own key."""
        settings: dict[str, Any] = {
            "overrides": (),
            "reason": "a batch",
            "actor": "account:9",
            "correlation": "c",
            **fields,
        }
        changes = {f"{keys or uuid4().hex}-{n}": each for n, each in enumerate(moves)}
        return self.ledger.adjust_batch(TERM, changes, **settings)

    def preview(
        self, student: int, add: int | None = None, drop: int | None = None, **fields: Any
    ) -> list[str]:
        """Return the codes of the reasons against an adjustment."""
        found = self.ledger.preview(TERM, self.adjustment(student, add, drop, **fields))
        return [reason.code for reason in found]

    def adjustment(
        self, student: int, add: int | None = None, drop: int | None = None, **fields: Any
    ) -> AdminAdjustment:
        part = fields.pop("part", add and Claim(add, 400))
        days = tuple(self.days())
        settings = {
            "credit_limit": 2100,
            "windows": (OPEN,),
            "days": days,
            "drop_limit": 3,
            **fields,
        }
        return AdminAdjustment(student, part, drop, **settings)

    def leave(self, student: int, section: int, **fields: Any) -> Decision:
        settings: dict[str, Any] = {
            "actor": f"student:{student}",
            "correlation": "c",
            **fields,
        }
        return self.ledger.leave(context_of(TERM, student, settings), section, **settings)

    def promote(
        self, section: int, *students: int, passes: SkipRule | None = None, **fields: Any
    ) -> Promotion:
        """Promote with these students as candidates, or with all at the head."""
        requested = students or self.ledger.head(TERM, section, 10)
        settings: dict[str, Any] = {"windows": (OPEN,), "credit_limit": 2100, **fields}
        candidates = [Candidate(student, **settings) for student in requested]
        return self.ledger.promote(TERM, section, candidates, "c", passes)

    def days(self) -> list[tuple[int, str]]:
        """Return yesterday, today and tomorrow; days begin a minute before now."""
        today = self.ledger.now() - MINUTE
        return [(today - DAY, "yesterday"), (today, "today"), (today + DAY, "tomorrow")]

    def queue(self, section: int) -> list[int]:
        """Return the waiting students in order."""
        return [int(each) for each in self.redis.zrange(f"{{t:{TERM}}}:queue:{section}", 0, -1)]

    def roster(self, section: int) -> list[int]:
        """Return the enrolled students in the order of registration."""
        entries = self.redis.hgetall(f"{{t:{TERM}}}:roster:{section}")
        rows = sorted((int(entry.split(b":")[1]), int(who)) for who, entry in entries.items())
        return [who for _, who in rows]

    def events(self) -> list[dict[str, Any]]:
        """Return the events of the journal."""
        entries = self.redis.xrange(f"{{t:{TERM}}}:journal")
        return [json.loads(fields[b"event"]) for _, fields in entries]

    def last_event(self) -> dict[str, Any]:
        return self.events()[-1]

    def clear_woken(self) -> None:
        for worker in ("record", "promote"):
            self.ledger.clear_woken(TERM, worker)


def codes(answer: Decision) -> list[str]:
    """Return the codes of a refusal."""
    return [reason.code for reason in answer.reasons]


def facts(answer: Decision, code: str) -> dict[str, Any]:
    """Return the facts of the one reason with that code."""
    (found,) = [reason.facts for reason in answer.reasons if reason.code == code]
    return found


def meets(days: int, start: int, end: int, first: int = 18_500, last: int = 18_600) -> Meeting:
    """Return a meeting from `start` to `end` o'clock; by default on 100 days of one autumn."""
    return (days, start * 60, end * 60, first, last)
