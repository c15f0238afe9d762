"""Files to download."""

from collections.abc import Iterable

from flask import Response

from portal.exchange.spreadsheets import Row, csv_pieces


def attachment(name: str, content: Iterable[bytes] | bytes | str, mimetype: str) -> Response:
    """Return the content as a file that browsers save under a name."""
    answer = Response(content, mimetype=mimetype)
    answer.headers.set("Content-Disposition", "attachment", filename=name)
    answer.cache_control.no_store = True  # most contain personal data
    return answer


def download(name: str, rows: Iterable[Row]) -> Response:
    """Return the rows as a CSV file.

    The response streams them after the request has ended, so they must not depend on it.
    """
    return attachment(name, csv_pieces(rows), "text/csv")
