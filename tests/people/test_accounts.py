"""Visitors: the accounts behind sessions."""

from collections.abc import Callable

import pytest
from sqlalchemy import text
from sqlalchemy.exc import OperationalError

from portal.backend import Backend
from portal.core.db import transaction
from portal.people import caches, visitors
from tests.cast import Cast, an_account
from tests.recorder.processes import wait_for
from tests.statements import statements

TEACHES = (
    "UPDATE instructors SET account_id = accounts.id FROM accounts"
    " WHERE accounts.username = 'ada' AND instructors.name = 'Iris'"
)


def test_roles_follow_from_what_an_account_has(cast: Cast) -> None:
    assert visitors.find(cast.ada.account_id).roles == {"student"}
    assert visitors.find(cast.iris.account_id).roles == {"instructor"}
    assert visitors.find(cast.max.id).roles == {"admin"}


def test_an_account_without_a_role_may_apply(backend: Backend) -> None:
    assert visitors.find(an_account("zoe").id).roles == {"applicant"}
    assert backend


@pytest.mark.parametrize("kept", ["", "1", "1.", ".1", "x.1", "1.x", "-1.1", "1.1.1", "².1"])
def test_a_session_that_makes_no_sense_is_nobodys(backend: Backend, kept: str) -> None:
    assert visitors.from_session(kept) is None
    assert backend


def test_a_session_of_an_older_epoch_is_nobodys(cast: Cast) -> None:
    assert visitors.from_session(f"{cast.ada.account_id}.1") is not None
    assert visitors.from_session(f"{cast.ada.account_id}.0") is None


def test_a_visitor_who_is_known_costs_no_query(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    visitors.find(cast.ada.account_id)
    monkeypatch.setattr(caches._seen, "seconds", 3600)  # noqa: SLF001  however long it takes
    with statements() as sent:
        for _ in range(50):
            assert visitors.find(cast.ada.account_id)
    assert not [each for each in sent if "FROM accounts" in each]


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ("UPDATE accounts SET is_admin = true WHERE username = 'ada'", {"student", "admin"}),
        ("UPDATE students SET deleted_at = now()", {"applicant"}),
        (TEACHES, {"student", "instructor"}),
    ],
)
def test_roles_that_change_are_seen(cast: Cast, change: str, found: set[str]) -> None:
    seen = caches.apply_changes(None)
    before = visitors.find(cast.ada.account_id)
    assert before
    assert before.roles == {"student"}
    with transaction() as session:
        session.execute(text(change))
    caches.apply_changes(seen)
    after = visitors.find(cast.ada.account_id)
    assert after
    assert after.roles == found


def test_ended_sessions_are_nobodys_within_seconds(cast: Cast) -> None:
    session_id = f"{cast.ada.account_id}.1"
    assert visitors.from_session(session_id)
    with transaction() as session:
        session.execute(text("UPDATE accounts SET session_epoch = 2"))
    wait_for(lambda: visitors.from_session(session_id) is None)


def test_an_account_that_is_deleted_is_no_one(cast: Cast) -> None:
    seen = caches.apply_changes(None)
    assert visitors.find(cast.max.id)
    with transaction() as session:
        session.execute(text("UPDATE accounts SET deleted_at = now() WHERE username = 'max'"))
    caches.apply_changes(seen)
    assert visitors.find(cast.max.id) is None


def test_a_known_visitor_stays_known_while_the_database_is_away(
    cast: Cast, without_database: Callable[[], None]
) -> None:
    seen = visitors.find(cast.ada.account_id)
    without_database()
    assert visitors.find(cast.ada.account_id) == seen


def test_a_stranger_can_not_be_found_while_the_database_is_away(
    cast: Cast, without_database: Callable[[], None]
) -> None:
    without_database()
    with pytest.raises(OperationalError):
        visitors.find(cast.ben.account_id)


def test_all_who_are_students_can_be_read_ahead(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(caches, "BATCH", 3)
    everyone = [each.account_id for each in (cast.ada, cast.ben, cast.cleo, cast.dan)]
    read = [visitors.find(account) for account in everyone]
    caches.apply_changes(None)  # so that nothing is known
    visitors.preload()
    with statements() as sent:
        found = [visitors.find(account) for account in everyone]
    assert not [each for each in sent if "FROM accounts" in each]
    assert found == read
