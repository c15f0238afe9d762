"""`fairseat token USER` prints a token once, and only its digest is kept."""

import hashlib
from datetime import UTC, datetime, timedelta

import pytest
from click.testing import CliRunner, Result
from sqlalchemy import select

from portal.cli import main
from portal.db import transaction
from portal.people.models import AccessKey
from tests.cast import Cast


def token(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["token", *arguments])


def kept() -> list[AccessKey]:
    with transaction() as session:
        return list(session.scalars(select(AccessKey)))


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
