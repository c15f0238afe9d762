"""Tables as files to download."""

from collections.abc import Iterable

from flask import Response

from portal.exchange.spreadsheets import Row, csv_pieces


def download(name: str, rows: Iterable[Row]) -> Response:
    """Return the rows as a CSV file.

    The response streams them after the request has ended, so they must not depend on it.
    """
    answer = Response(csv_pieces(rows), mimetype="text/csv")
    answer.headers.set("Content-Disposition", "attachment", filename=name)
    answer.cache_control.no_store = True  # contains personal data
    return answer
