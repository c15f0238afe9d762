"""Short messages for a later page: the session stores each until a page shows it."""

import json
from dataclasses import dataclass
from time import time
from typing import Any

from flask import g, get_flashed_messages, request, session

from portal.web.http.request_info import is_prefetch, split_url

KEPT_AS = "messages"
MOST = 5  # stored messages
MOST_BYTES = 1500  # of all messages as JSON: a cookie holds 4 KB
PAGE_SECONDS = 20  # a message waits this long for its own page; then any page shows it


@dataclass(frozen=True)
class Message:
    """A text with its tone: `message` is a toast, any other tone a note above the page."""

    tone: str
    text: str

    @property
    def toast(self) -> bool:
        return self.tone == "message"


def keep(text: str, tone: str, page: str) -> None:
    """Store a message for the page of an address, so that no other tab shows it first."""
    messages = [*session.get(KEPT_AS, ()), (tone, text, split_url(page).path, time())]
    session[KEPT_AS] = _newest(messages)


def take() -> list[Message]:
    """Return the messages that this page should show, and keep the others.

    A request for a part of a page takes none, because that part would not show them.
    """
    if "messages" not in g:
        part = is_prefetch() or "HX-Request" in request.headers
        g.messages = [] if part else [*_take_due(), *_flashed()]
    taken: list[Message] = g.messages
    return taken


def _take_due() -> list[Message]:
    if KEPT_AS not in session:
        return []
    stored = session.pop(KEPT_AS)
    if others := [each for each in stored if not _due(each)]:
        session[KEPT_AS] = others
    return [Message(each[0], each[1]) for each in stored if _due(each)]


def _newest(messages: list[Any]) -> list[Any]:
    """Return the newest messages that fit into the cookie."""
    messages = messages[-MOST:]
    while messages and len(json.dumps(messages)) > MOST_BYTES:
        messages = messages[1:]
    return messages


def _due(message: Any) -> bool:
    _tone, _text, page, at = message
    return bool(page == request.path or time() - at > PAGE_SECONDS)


def _flashed() -> list[Message]:
    return [Message(*each) for each in get_flashed_messages(with_categories=True)]
