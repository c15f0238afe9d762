"""Functions of upper packages that the recorder, its audits and the scheduler call.

`portal.subscribers` registers them once in each process, so nothing here imports those packages.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from sqlalchemy.orm import Session

from portal.recorder.events import Event


@dataclass(frozen=True)
class DueJob:
    """A job that the scheduler is to enqueue; another `reason` means that there is other work."""

    term: int
    job: str
    reason: int


@dataclass
class Subscribers:
    """What is called, and with what."""

    # With the transaction that records these events of a term.
    recorded: list[Callable[[Session, int, Sequence[Event]], None]] = field(default_factory=list)
    # With the transaction that notes the first differences of a term; their number.
    differences_found: list[Callable[[Session, int, int], None]] = field(default_factory=list)
    # Each second, with the terms that are not deleted.
    due_jobs: list[Callable[[Sequence[int]], Iterable[DueJob]]] = field(default_factory=list)

    def require(self) -> None:
        """Raise RuntimeError in a process that has registered nothing: it would lose mails."""
        if not self.recorded:
            raise RuntimeError("Call portal.subscribers.connect() first.")


subscribers = Subscribers()
