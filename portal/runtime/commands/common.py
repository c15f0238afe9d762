"""What several commands share: progress bars, and the audit trail of users without an account."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)

from portal.core.audit_trail import add_audit_entry
from portal.core.db import transaction

REASON = "command line"
COLUMNS = (
    TextColumn("{task.description:24}"),
    BarColumn(),
    MofNCompleteColumn(),
    TimeElapsedColumn(),
)


def note(action: str, subject: str, after: dict[str, Any] | None = None) -> None:
    """Add an entry to the audit trail."""
    with transaction() as session:
        add_audit_entry(session, action, subject, after=after, reason=REASON)


@contextmanager
def progress_bars(console: Console | None = None) -> Iterator[Callable[[str, int, int], None]]:
    """Show a progress bar for each step of the block, by default on standard error.

    The block passes the name of a step, the finished number and the total.
    """
    bars: dict[str, TaskID] = {}
    with Progress(*COLUMNS, console=console or Console(stderr=True)) as progress:

        def show(step: str, done: int, total: int) -> None:
            if step not in bars:
                bars[step] = progress.add_task(step, total=total)
            progress.update(bars[step], completed=done, total=total)

        yield show
