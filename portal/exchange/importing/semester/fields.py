"""Single fields of a row, with a note in the report where one had to be mended."""

from portal.exchange.importing.report import Report
from portal.exchange.importing.tables import Row


def text(row: Row, column: str, most: int, report: Report) -> str:
    """A line of text: single-spaced, at most `most` signs."""
    found = " ".join(row[column].split())
    if found != row[column]:
        report.note("spaces", row, column)
    if len(found) > most:
        report.note("too_long", row, column, f"At most {most} signs.")
        found = found[: most - 1].rstrip() + "…"
    return found


def left_out(row: Row, columns: tuple[str, ...], report: Report) -> None:
    """Name every field of the row for which there is no place."""
    for column in columns:
        if row[column]:
            report.note("not_represented", row, column)
