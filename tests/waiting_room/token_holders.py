"""Students with an access token."""

from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from portal.waiting_room import access_tokens, room
from portal.waiting_room.access_tokens import AccessToken
from portal.web.http import admission
from tests.web.visitors import browser_of


@dataclass(frozen=True)
class Holder:
    """A logged-in browser with an access token."""

    app: Flask
    client: FlaskClient
    held: AccessToken

    def post(self, section: Any, act: str = "pick", **changed: Any) -> TestResponse:
        """Send the form of a section as the page shows it, with the `changed` fields.

        `held` is the token that is sent, None for none; `headers` are sent too.
        """
        held, headers = changed.pop("held", self.held), changed.pop("headers", {})
        query = changed.pop("query", "")
        self.carry(held)
        data = {"request": uuid4().hex, **changed}
        address = f"/terms/{section.term_id}/sections/{section.id}/{act}{query}"
        return self.client.post(address, data=data, headers=headers)

    def carry(self, held: AccessToken | str | None) -> None:
        """Store a token in the browser, or an invalid text, or nothing."""
        path = f"/terms/{self.held.term}"
        if held is None:
            self.client.delete_cookie(admission.COOKIE, path=path)
            return
        text = held if isinstance(held, str) else written(self.app, held)
        self.client.set_cookie(admission.COOKIE, text, path=path)


def holder(app: Flask, username: str, student: Any, window: Any, term: int) -> Holder:
    """Return an admitted student with a token for the next minutes."""
    with app.app_context():
        room.enter(term, window.id, student.id)
        ends = room.extend_stay(term, window.id, student.id)
    assert ends
    token = AccessToken(student.account_id, term, window.id, ends)
    return Holder(app, browser_of(app, username), token)


def written(app: Flask, held: AccessToken) -> str:
    """Return an encoded token."""
    with app.app_context():
        return access_tokens.encode(held)
