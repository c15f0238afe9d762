"""Functions of upper packages that the recorder, its audits and the scheduler call.

`portal.subscribers` registers them once per process, so nothing here imports those packages.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from sqlalchemy.orm import Session

from portal.recorder.events import Event


@dataclass(frozen=True)
class DueJob:
    """A job that the scheduler must enqueue; a new `reason` means new work."""

    term: int
    job: str
    reason: int


@dataclass
class Subscribers:
    """The functions to call, and their arguments."""

    # Called in the transaction that records these events of a term.
    recorded: list[Callable[[Session, int, Sequence[Event]], None]] = field(default_factory=list)
    # Called in the transaction that stores a term's first differences, with their number.
    differences_found: list[Callable[[Session, int, int], None]] = field(default_factory=list)
    # Called each second, with the terms that are not deleted.
    due_jobs: list[Callable[[Sequence[int]], Iterable[DueJob]]] = field(default_factory=list)

    def require(self) -> None:
        """Raise RuntimeError in a process without subscribers: it would lose mail."""
        if not self.recorded:
            raise RuntimeError("Call portal.subscribers.connect() first.")


subscribers = Subscribers()
