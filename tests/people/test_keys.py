"""Making and revoking access tokens."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from hashlib import sha256

import pytest

from portal.people import tokens
from portal.people.tokens import MOST, NameTakenError, TooManyError, Wish
from tests.cast import Cast
from tests.people.tokens import a_token, deeds, kept


def test_only_the_digest_of_a_secret_is_kept(cast: Cast) -> None:
    secret = tokens.make(cast.ada.account_id, Wish("script", ["read"], 30))
    (key,) = kept()
    assert key.digest == sha256(secret.encode()).digest()
    assert secret not in str([entry.after for entry in deeds()])


def test_a_secret_is_long_and_begins_as_scanners_know_it(cast: Cast) -> None:
    secret = tokens.make(cast.ada.account_id, Wish("script"))
    assert secret.startswith("fs_")
    assert len(secret) >= 43


def test_twenty_are_the_most(cast: Cast) -> None:
    for number in range(MOST):
        tokens.make(cast.ada.account_id, Wish(f"number {number}"))
    with pytest.raises(TooManyError):
        tokens.make(cast.ada.account_id, Wish("one more"))
    with pytest.raises(TooManyError):
        tokens.make_for("ada", Wish("one more"))
    assert tokens.make(cast.ben.account_id, Wish("of another"))


def test_twenty_are_the_most_though_many_are_made_at_once(cast: Cast) -> None:
    def make(number: int) -> bool:
        try:
            return bool(tokens.make(cast.ada.account_id, Wish(f"number {number}")))
        except TooManyError:
            return False

    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(make, range(MOST + 8)))
    assert sum(made) == len(kept()) == MOST


def test_those_that_ended_do_not_count(cast: Cast) -> None:
    for number in range(MOST):
        a_token(cast.ada.account_id, name=f"{number}", expires_at=datetime.now(UTC))
    assert tokens.make(cast.ada.account_id, Wish("one more"))


def test_a_name_is_of_one_live_token(cast: Cast) -> None:
    tokens.make(cast.ada.account_id, Wish("script"))
    with pytest.raises(NameTakenError):
        tokens.make(cast.ada.account_id, Wish("script"))
    tokens.revoke(cast.ada.account_id)
    assert tokens.make(cast.ada.account_id, Wish("script"))


def test_nobody_revokes_anothers(cast: Cast) -> None:
    a_token(cast.ada.account_id)
    (key,) = kept()
    assert tokens.revoke(cast.ben.account_id, key.id) == []
    assert tokens.revoke(cast.ada.account_id, key.id) == ["test"]
    assert tokens.revoke(cast.ada.account_id, key.id) == []


def test_who_made_and_who_revoked_one_is_kept(cast: Cast) -> None:
    ada = cast.ada.account_id
    tokens.make(ada, Wish("script", ["read"], 30))
    tokens.revoke(ada)
    tokens.make_for("ada", Wish("operator's"))
    made, revoked, given = deeds()
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
    tokens.make(cast.ada.account_id, Wish("script", days=30))
    (key,) = kept()
    assert key.expires_at
    assert abs(key.expires_at - datetime.now(UTC) - timedelta(days=30)) < timedelta(minutes=1)
