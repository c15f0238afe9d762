"""A fence before a term of the ledger: as long as it stands, nothing is decided there.

Whoever asks is told that the ledger can't be asked. Whatever is done to the fence, or behind it, is
one step of the ledger, and counts once replicas have it: the next primary has the fence as well.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from portal.backend import backend
from portal.ledger.function_library import prefix, translate_errors

Command = list[str]


class Changed(Exception):  # noqa: N818  a state of the world, not a mistake
    """Another primary answers than the one that was looked at, or the term was changed there."""


@dataclass(frozen=True)
class Held:
    """A fence of one's own, by its `mark`; the run of the primary, and the term's last event.

    Its methods raise Changed where it does not stand any more, or another primary answers.
    """

    term: int
    mark: str
    run: str
    seq: int

    def write(self, *commands: Command) -> None:
        """Do these in one step."""
        self._move(self.mark, commands)

    def confirm(self) -> None:
        """Raise Changed where the last event is another by now."""
        self._move(self.mark, (), seq=self.seq)

    def let_go(self, before: str = "", *, seq: int | None = None) -> None:
        """Let the term go on, or put the fence of before back; only behind that event if given."""
        self._move(before, (), seq=seq)

    def _move(self, now: str, commands: Sequence[Command], seq: int | None = None) -> None:
        # Who writes once more writes the same; a fence may have been let go of already.
        again = now == self.mark
        _behind(self.term, self.mark, now, commands, again=again, run=self.run, seq=seq)


def put_up(term: int, why: str, *, behind: int | None = None) -> bool:
    """Let nothing be decided from here on; with `behind` only where the last event is before that.

    Whether it stands for that reason: one that stands already is left.
    """
    found = backend().ledger.library.ask("fence", term, {"why": why, "behind": behind}, again=True)
    return bool(found["fence"] == why)


def hold(term: int, reason: str) -> Held:
    """Put up one's own, in the place of what stands there."""
    mark = f"{reason} ({uuid4().hex})"
    found = _behind(term, why(term), mark, ())
    return Held(term, mark, found["run"], found["seq"])


def why(term: int) -> str:
    """Why it stands; blank where there is none."""
    with translate_errors():
        found = backend().redis.get(key(term))
    return found.decode() if isinstance(found, bytes) else ""


def key(term: int) -> str:
    """Where it stands."""
    return f"{prefix(term)}:fence"


def _behind(
    term: int, was: str, now: str, commands: Sequence[Command], *, again: bool = False, **same: Any
) -> Any:
    payload = {"was": was, "now": now, "commands": commands, **same}
    found = backend().ledger.library.ask("behind_fence", term, payload, again=again)
    if found["changed"]:
        raise Changed("another primary answers, or somebody else has changed it")
    return found
