"""Numbers in addresses: as PostgreSQL and the ledger can hold them."""

from flask import Flask
from werkzeug.routing import IntegerConverter


class Id(IntegerConverter):
    """Up to 18 digits; an address with a longer number, or with other digits, leads nowhere."""

    regex = r"[0-9]{1,18}"


def start(app: Flask) -> None:
    """Read every `<int:…>` so; to be called before the routes are made."""
    app.url_map.converters["int"] = Id
