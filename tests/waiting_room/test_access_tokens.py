"""Access tokens are signed texts that only the portal can write or change."""

import base64
from dataclasses import replace
from typing import Any

import pytest
from flask import Flask
from itsdangerous import URLSafeSerializer

from portal.waiting_room import access_tokens
from portal.waiting_room.access_tokens import AccessToken

GIVEN = AccessToken(account=7, term=3, window=5, ends=1_900_000_000_000)


@pytest.fixture(autouse=True)
def context(application: Flask) -> Any:
    with application.app_context():
        yield


def test_token_survives_encoding() -> None:
    assert access_tokens.decode(access_tokens.encode(GIVEN)) == GIVEN


@pytest.mark.parametrize("other", ["", "x", "x.y", ".", "é.é", "\0", "a" * 100_000])
def test_other_text_is_no_token(other: str) -> None:
    assert access_tokens.decode(other) is None


def test_any_changed_character_invalidates_a_token() -> None:
    text = access_tokens.encode(GIVEN)
    for at in range(len(text)):
        changed = text[:at] + ("A" if text[at] != "A" else "B") + text[at + 1 :]
        # The last character of a signature has unused bits.
        assert access_tokens.decode(changed) in ({None, GIVEN} if at == len(text) - 1 else {None})


def test_token_with_another_signature_is_invalid() -> None:
    mine, _, signature = access_tokens.encode(GIVEN).rpartition(".")
    theirs = access_tokens.encode(replace(GIVEN, account=8)).rpartition(".")[0]
    assert access_tokens.decode(f"{theirs}.{signature}") is None
    assert access_tokens.decode(mine) is None


def test_token_of_another_key_is_invalid() -> None:
    foreign = URLSafeSerializer("another key", salt=access_tokens.SALT)
    assert access_tokens.decode(str(foreign.dumps([7, 3, 5, 1_900_000_000_000]))) is None


def test_session_cookie_is_no_token(application: Flask) -> None:
    serializer = application.session_interface.get_signing_serializer(application)  # type: ignore[attr-defined]
    assert access_tokens.decode(serializer.dumps([7, 3, 5, 1_900_000_000_000])) is None


def test_token_has_no_secret() -> None:
    content = access_tokens.encode(GIVEN).partition(".")[0]
    padded = content + "=" * (-len(content) % 4)
    assert base64.urlsafe_b64decode(padded) == b"[7,3,5,1900000000000]"
