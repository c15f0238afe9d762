"""Bars for what takes long, on the error output: how far, how fast, how long yet."""

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    Task,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.progress import ProgressColumn as Column
from rich.text import Text

from portal.recorder.event_log import ProgressCallback


class Rate(Column):
    """Steps a second."""

    def render(self, task: Task) -> Text:
        """The rate, blank until it is known."""
        return Text(f"{task.speed:,.0f}/s" if task.speed else "")


@contextmanager
def bars() -> Iterator[ProgressCallback]:
    """A block in which each step that is told has a bar of its own."""
    known: dict[str, TaskID] = {}
    columns = (
        TextColumn("{task.description:12}"),
        BarColumn(),
        MofNCompleteColumn(),
        Rate(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as progress:

        def tell(step: str, done: int, of: int) -> None:
            if step not in known:
                known[step] = progress.add_task(step, total=of)
            progress.update(known[step], completed=done, total=of)

        yield tell
