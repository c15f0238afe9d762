"""Access tokens as requests bring them: known for two seconds, and asked for no more often."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta, tzinfo

import pytest
from cachetools import TTLCache
from sqlalchemy import update
from sqlalchemy.exc import OperationalError

from portal.core import cache
from portal.core.db import transaction
from portal.people import tokens
from portal.people.models import ApiToken
from tests.cast import Cast
from tests.people.tokens import a_token, kept
from tests.statements import statements

MINUTE = timedelta(minutes=1)


class Tomorrow(datetime):
    """The clock of tomorrow."""

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
        return datetime.now(tz) + timedelta(days=1)


def asked(sent: list[str]) -> int:
    return len([each for each in sent if "FROM api_tokens" in each])


def used(secret: str, ago: timedelta) -> None:
    with transaction() as session:
        mine = update(ApiToken).where(ApiToken.digest == tokens.digest(secret))
        session.execute(mine.values(used_at=datetime.now(UTC) - ago))


def test_a_token_says_whose_it_is_and_what_it_may_do(cast: Cast) -> None:
    found = tokens.find_bearer(a_token(cast.ada.account_id, "read"))
    assert found
    assert (found.account_id, found.scopes) == (cast.ada.account_id, {"read"})


@pytest.fixture
def long(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is known stays known for as long as a test may take."""
    monkeypatch.setattr(tokens._bearers, "seconds", 3600)  # noqa: SLF001
    monkeypatch.setattr(tokens, "_unknown", TTLCache(tokens.UNKNOWN_TOKENS, 3600))


@pytest.mark.usefixtures("long")
def test_a_known_token_costs_no_query(cast: Cast) -> None:
    token = a_token(cast.ada.account_id)
    tokens.find_bearer(token)
    with statements() as sent:
        for _ in range(50):
            assert tokens.find_bearer(token)
    assert asked(sent) == 0


@pytest.mark.usefixtures("long")
def test_an_unknown_token_is_asked_for_once(cast: Cast) -> None:
    with statements() as sent:
        for _ in range(50):
            assert tokens.find_bearer("fs_guessed-again-and-again") is None
    assert asked(sent) == 1
    assert cast


@pytest.mark.usefixtures("long")
def test_guesses_push_out_no_token_that_is_known(cast: Cast) -> None:
    token = a_token(cast.ada.account_id)
    tokens.find_bearer(token)
    for guess in range(200):
        assert tokens.find_bearer(f"fs_guess-{guess}") is None
    with statements() as sent:
        assert tokens.find_bearer(token)
    assert asked(sent) == 0


def test_a_revoked_token_is_refused_after_two_seconds(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = a_token(cast.ada.account_id)
    assert tokens.find_bearer(token)
    tokens.revoke(cast.ada.account_id)
    now = cache.monotonic
    monkeypatch.setattr(cache, "monotonic", lambda: now() + 2)
    assert tokens.find_bearer(token) is None


@pytest.mark.usefixtures("long")
def test_a_token_ends_at_its_time_though_it_is_known(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = a_token(cast.ada.account_id, expires_at=datetime.now(UTC) + timedelta(hours=1))
    assert tokens.find_bearer(token)
    monkeypatch.setattr(tokens, "datetime", Tomorrow)
    assert tokens.find_bearer(token) is None


def test_a_known_token_goes_on_while_the_database_is_away(
    cast: Cast, without_database: Callable[[], None]
) -> None:
    token = a_token(cast.ada.account_id)
    tokens.find_bearer(token)
    without_database()
    assert tokens.find_bearer(token)
    with pytest.raises(OperationalError):
        tokens.find_bearer("fs_a-stranger")


def test_it_is_kept_when_a_token_was_last_used(cast: Cast) -> None:
    token = a_token(cast.ada.account_id)
    tokens.find_bearer(token)
    (key,) = kept()
    assert key.used_at
    assert datetime.now(UTC) - key.used_at < MINUTE


@pytest.mark.parametrize(("ago", "renewed"), [(1 * MINUTE, False), (6 * MINUTE, True)])
def test_but_only_once_in_minutes(cast: Cast, ago: timedelta, *, renewed: bool) -> None:
    token = a_token(cast.ada.account_id)
    used(token, ago)
    (before,) = kept()
    tokens.find_bearer(token)
    (after,) = kept()
    assert (after.used_at != before.used_at) == renewed
