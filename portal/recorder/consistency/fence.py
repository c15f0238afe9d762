"""A fence blocks all decisions of a term in the ledger while it stands.

Requests fail as if the ledger were unavailable. Each change to the fence, or behind it, is one
atomic step, and counts once replicas have it. The next primary therefore has the fence too.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from portal.backend import backend
from portal.ledger.function_library import prefix, translate_errors

Command = list[str]


class Changed(Exception):  # noqa: N818  a state of the world, not a mistake
    """Another primary answers now, or the term changed there."""


@dataclass(frozen=True)
class Held:
    """A fence of our own: its `mark`, the primary's run id and the term's last event.

    Its methods raise Changed if the fence is gone or another primary answers.
    """

    term: int
    mark: str
    run: str
    seq: int

    def write(self, *commands: Command) -> None:
        """Run these commands in one step."""
        self._move(self.mark, commands)

    def confirm(self) -> None:
        """Raise Changed if the last event is no longer the same."""
        self._move(self.mark, (), seq=self.seq)

    def let_go(self, before: str = "", *, seq: int | None = None) -> None:
        """Remove the fence, or put the earlier one back.

        With `seq`, only if that is the last event.
        """
        self._move(before, (), seq=seq)

    def _move(self, now: str, commands: Sequence[Command], seq: int | None = None) -> None:
        # A repeated write has the same result; the fence may already be removed.
        again = now == self.mark
        _behind(self.term, self.mark, now, commands, again=again, run=self.run, seq=seq)


def put_up(term: int, why: str, *, behind: int | None = None) -> bool:
    """Put up a fence; return whether one stands for that reason.

    With `behind`, only if the last event is before that number. An existing fence stays.
    """
    found = backend().ledger.library.ask("fence", term, {"why": why, "behind": behind}, again=True)
    return bool(found["fence"] == why)


def hold(term: int, reason: str) -> Held:
    """Put up our own fence, replacing any that stands."""
    mark = f"{reason} ({uuid4().hex})"
    found = _behind(term, why(term), mark, ())
    return Held(term, mark, found["run"], found["seq"])


def why(term: int) -> str:
    """Return why the fence stands; blank if there is none."""
    with translate_errors():
        found = backend().redis.get(key(term))
    return found.decode() if isinstance(found, bytes) else ""


def key(term: int) -> str:
    """Return the fence's key."""
    return f"{prefix(term)}:fence"


def _behind(
    term: int, was: str, now: str, commands: Sequence[Command], *, again: bool = False, **same: Any
) -> Any:
    payload = {"was": was, "now": now, "commands": commands, **same}
    found = backend().ledger.library.ask("behind_fence", term, payload, again=again)
    if found["changed"]:
        raise Changed("another primary answers, or somebody else has changed it")
    return found
