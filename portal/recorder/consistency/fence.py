"""A fence blocks all decisions of a term in the ledger while it stands.

Requests fail as if the ledger were unavailable. Each change to the fence, or behind it, is one
atomic step, and counts once replicas have it. The next primary therefore has the fence too.
"""

from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from portal.backend import backend
from portal.ledger.function_library import prefix, translate_errors

Command = list[str]


class Changed(Exception):
    """Another primary answers now, or the term changed there."""


@dataclass(frozen=True)
class OwnFence:
    """A fence of our own: its `token`, the primary's run id and the term's last event.

    Its methods raise Changed if the fence is gone or another primary answers.
    """

    term: int
    token: str
    run: str
    seq: int

    def write(self, *commands: Command) -> None:
        """Run these commands in one step."""
        _change(self.term, self.token, self.token, *commands, run=self.run)

    def confirm(self) -> None:
        """Raise Changed if the last event is no longer the same."""
        _change(self.term, self.token, self.token, run=self.run, seq=self.seq)

    def release(self, before: str = "", *, seq: int | None = None) -> None:
        """Remove the fence, or put the earlier one back.

        With `seq`, only if that is the last event.
        """
        _change(self.term, self.token, before, run=self.run, seq=seq)


def put_up(term: int, why: str, *, behind: int | None = None) -> bool:
    """Put up a fence; return whether one stands for that reason.

    With `behind`, only if the last event is before that number. An existing fence stays.
    """
    found = backend().ledger.library.ask("fence", term, {"why": why, "behind": behind}, again=True)
    return bool(found["fence"] == why)


def replace(term: int, reason: str) -> OwnFence:
    """Put up our own fence, replacing any that stands."""
    token = f"{reason} ({uuid4().hex})"
    found = _change(term, why(term), token)
    return OwnFence(term, token, found["run"], found["seq"])


def why(term: int) -> str:
    """Return why the fence stands; blank if there is none."""
    with translate_errors():
        found = backend().ledger.redis(term).get(key(term))
    return found.decode() if isinstance(found, bytes) else ""


def key(term: int) -> str:
    return f"{prefix(term)}:fence"


def _change(term: int, was: str, now: str, *commands: Command, **same: Any) -> Any:
    """Turn a fence into another one and run commands behind it, if all else is the `same`."""
    payload = {"was": was, "now": now, "commands": commands, **same}
    # A repeated write has the same result; but the fence may already be removed.
    found = backend().ledger.library.ask("behind_fence", term, payload, again=was == now)
    if found["changed"]:
        raise Changed("another primary responds, or someone else has changed it")
    return found
