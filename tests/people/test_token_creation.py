"""Making and revoking access tokens."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from hashlib import sha256

import pytest

from portal.people import tokens
from portal.people.tokens import MAX_TOKENS, NameTakenError, TokenRequest, TooManyError
from tests.audit_trail import entries
from tests.cast import Cast
from tests.people.tokens import a_token, kept


def test_only_the_digest_of_a_secret_is_kept(cast: Cast) -> None:
    secret = tokens.create(cast.ada.account_id, TokenRequest("script", ["read"], 30))
    (key,) = kept()
    assert key.digest == sha256(secret.encode()).digest()
    assert secret not in str([entry.after for entry in entries()])


def test_a_secret_is_long_and_begins_as_scanners_know_it(cast: Cast) -> None:
    secret = tokens.create(cast.ada.account_id, TokenRequest("script"))
    assert secret.startswith("fs_")
    assert len(secret) >= 43


def test_twenty_are_the_most(cast: Cast) -> None:
    for number in range(MAX_TOKENS):
        tokens.create(cast.ada.account_id, TokenRequest(f"number {number}"))
    with pytest.raises(TooManyError):
        tokens.create(cast.ada.account_id, TokenRequest("one more"))
    with pytest.raises(TooManyError):
        tokens.create_for("ada", TokenRequest("one more"))
    assert tokens.create(cast.ben.account_id, TokenRequest("of another"))


def test_twenty_are_the_most_though_many_are_made_at_once(cast: Cast) -> None:
    def make(number: int) -> bool:
        try:
            return bool(tokens.create(cast.ada.account_id, TokenRequest(f"number {number}")))
        except TooManyError:
            return False

    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(make, range(MAX_TOKENS + 8)))
    assert sum(made) == len(kept()) == MAX_TOKENS


def test_those_that_ended_do_not_count(cast: Cast) -> None:
    for number in range(MAX_TOKENS):
        a_token(cast.ada.account_id, name=f"{number}", expires_at=datetime.now(UTC))
    assert tokens.create(cast.ada.account_id, TokenRequest("one more"))


def test_a_name_is_of_one_live_token(cast: Cast) -> None:
    tokens.create(cast.ada.account_id, TokenRequest("script"))
    with pytest.raises(NameTakenError):
        tokens.create(cast.ada.account_id, TokenRequest("script"))
    tokens.revoke(cast.ada.account_id)
    assert tokens.create(cast.ada.account_id, TokenRequest("script"))


def test_no_one_revokes_anothers(cast: Cast) -> None:
    a_token(cast.ada.account_id)
    (key,) = kept()
    assert tokens.revoke(cast.ben.account_id, key.id) == []
    assert tokens.revoke(cast.ada.account_id, key.id) == ["test"]
    assert tokens.revoke(cast.ada.account_id, key.id) == []


def test_who_made_and_who_revoked_one_is_kept(cast: Cast) -> None:
    ada = cast.ada.account_id
    tokens.create(ada, TokenRequest("script", ["read"], 30))
    tokens.revoke(ada)
    tokens.create_for("ada", TokenRequest("operator's"))
    made, revoked, given = entries()
    assert [each.action for each in (made, revoked, given)] == [
        "token.make",
        "token.revoke",
        "token.make",
    ]
    assert (made.account_id, revoked.account_id, given.account_id) == (ada, ada, None)
    assert (made.after or {})["scopes"] == ["read"]
    assert (revoked.before or {})["revoked"] is None
    assert (revoked.after or {})["revoked"]
    assert given.reason == "command line"


def test_a_token_ends_after_its_days(cast: Cast) -> None:
    tokens.create(cast.ada.account_id, TokenRequest("script", days=30))
    (key,) = kept()
    assert key.expires_at
    assert abs(key.expires_at - datetime.now(UTC) - timedelta(days=30)) < timedelta(minutes=1)
