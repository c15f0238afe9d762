"""Rows into PostgreSQL as fast as a client can: COPY, in batches, without anything decided."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import StringIO
from typing import Any

NULL = r"\N"

Rows = Sequence[tuple[Any, ...]]


@dataclass(frozen=True)
class Load:
    """Rows of one table, whose columns are these, and how many of them a transaction takes."""

    table: str
    columns: tuple[str, ...]
    rows: Rows
    at_once: int


def insert(connection: Any, loads: Sequence[Load]) -> None:
    """All the rows, a batch of each table in one transaction."""
    batches = [_batches(load) for load in loads]
    while True:
        due = [
            (load, rows)
            for load, each in zip(loads, batches, strict=True)
            if (rows := next(each, ()))
        ]
        if not due:
            return
        with connection, connection.cursor() as cursor:
            for load, rows in due:
                lines = StringIO("".join(map(_line, rows)))
                cursor.copy_expert(
                    f"COPY {load.table} ({', '.join(load.columns)}) FROM STDIN", lines
                )


def _batches(load: Load) -> Iterator[Rows]:
    for at in range(0, len(load.rows), load.at_once):
        yield load.rows[at : at + load.at_once]


def _line(row: tuple[Any, ...]) -> str:
    return (
        "\t".join(NULL if each is None else str(each).replace("\\", "\\\\") for each in row) + "\n"
    )
