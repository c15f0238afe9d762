"""Inserts into PostgreSQL as fast as a client can: COPY of ready rows in batches."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import StringIO
from typing import Any

NULL = r"\N"

Rows = Sequence[tuple[Any, ...]]


@dataclass(frozen=True)
class Load:
    """Rows of one table with their columns, and the number of rows per transaction."""

    table: str
    columns: tuple[str, ...]
    rows: Rows
    at_once: int


def insert(connection: Any, loads: Sequence[Load]) -> None:
    """Insert all rows, with one batch of each table per transaction."""
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
