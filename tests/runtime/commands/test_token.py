"""`fairseat token USER` prints a token once, and only its digest is kept."""

import hashlib
from datetime import UTC, datetime, timedelta

import pytest
from click.testing import CliRunner, Result

from portal.runtime.cli import main
from tests.cast import Cast
from tests.people.tokens import a_token, kept


def token(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["token", *arguments])


def test_it_keeps_the_digest_of_what_it_prints(cast: Cast) -> None:
    secret = token("ada", "--name", "laptop").output.strip()
    (key,) = kept()
    assert secret.startswith("fs_")
    assert key.digest == hashlib.sha256(secret.encode()).digest()
    assert (key.account_id, key.name, key.expires_at) == (cast.ada.account_id, "laptop", None)


@pytest.mark.usefixtures("cast")
def test_it_may_end_by_itself() -> None:
    token("ada", "--days", "30")
    (key,) = kept()
    assert key.expires_at
    assert abs(key.expires_at - datetime.now(UTC) - timedelta(days=30)) < timedelta(minutes=1)


@pytest.mark.usefixtures("cast")
def test_no_two_are_alike() -> None:
    assert token("ada").output != token("ada").output


@pytest.mark.usefixtures("backend")
def test_it_names_an_unknown_user() -> None:
    answer = token("nobody")
    assert answer.exit_code == 1
    assert answer.output == "Error: There is no account named 'nobody'.\n"
    assert kept() == []


@pytest.mark.usefixtures("cast")
def test_it_refuses_days_that_are_none() -> None:
    assert token("ada", "--days", "0").exit_code == 2


@pytest.mark.usefixtures("cast")
def test_it_may_do_everything_or_what_is_named() -> None:
    token("ada")
    token("ada", "--scope", "read")
    everything, reading = (key.scopes for key in kept())
    assert (everything, reading) == (["read", "register"], ["read"])


@pytest.mark.usefixtures("cast")
def test_it_refuses_a_scope_that_is_none() -> None:
    assert token("ada", "--scope", "everything").exit_code == 2
    assert kept() == []


def test_it_refuses_one_too_many(cast: Cast) -> None:
    for _ in range(20):
        a_token(cast.ada.account_id)
    answer = token("ada")
    assert answer.exit_code == 1
    assert "Revoke one first" in answer.output
