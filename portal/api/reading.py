"""Reads what clients send, and names each field that makes no sense."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, NoReturn

import marshmallow as ma
from flask import Request
from webargs import core
from webargs.flaskparser import FlaskParser, is_json_request
from werkzeug.exceptions import UnsupportedMediaType

from portal.api.wrongs import in_words
from portal.core.i18n import _

WHERE = {"json": "body", "query": "query", "headers": "header"}


class Malformed(ValueError):  # noqa: N818  a fact about a request, not a mistake of ours
    """A request that makes no sense: each thing wrong, and where; 400 where it is no JSON."""

    def __init__(self, errors: list[dict[str, str]], status: int = 422) -> None:
        super().__init__(errors)
        self.errors = errors
        self.status = status


class Reader(FlaskParser):
    """Bodies are JSON without extras, and all that is wrong with a request is told at once."""

    def _raw_load_json(self, req: Request) -> Any:
        body = req.get_data(cache=True)
        if not body:
            return core.missing
        if not is_json_request(req):
            raise UnsupportedMediaType
        try:
            return json.loads(body, parse_constant=_no_number)
        except (ValueError, RecursionError) as error:  # numbers may be too long, lists too deep
            message = _("This is no JSON: %(error)s", error=error)[:200]
            raise Malformed([wrong("body", "", message)], 400) from error

    def handle_error(self, error: ma.ValidationError, *_: Any, **__: Any) -> NoReturn:
        """Tell every field that is wrong."""
        raise Malformed(
            [
                wrong(WHERE.get(location, location), *each)
                for location, messages in error.messages_dict.items()
                for each in _flat(messages)
            ]
        )


def wrong(where: str, pointer: str, message: str) -> dict[str, str]:
    """One thing that is wrong, `where` (body, query, header) and at which pointer (RFC 6901)."""
    return {"in": where, "pointer": pointer, "message": in_words(message)}


def fault(pointer: str, message: str, status: int = 422) -> Malformed:
    """That a field of the body is wrong."""
    return Malformed([wrong("body", pointer, message)], status)


def _flat(messages: Any, pointer: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(messages, Mapping):
        for name, inner in messages.items():
            step = (
                "" if name == "_schema" else "/" + str(name).replace("~", "~0").replace("/", "~1")
            )
            yield from _flat(inner, pointer + step)
    elif isinstance(messages, list):
        for each in messages:
            yield from _flat(each, pointer)
    else:
        yield pointer, str(messages)


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")
