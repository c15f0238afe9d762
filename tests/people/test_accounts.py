"""Visitors: the accounts behind sessions."""

from collections.abc import Callable

import pytest
from sqlalchemy import create_engine, event
from sqlalchemy.exc import OperationalError

from portal import db
from portal.backend import Backend
from portal.people import accounts
from tests.cast import Cast, an_account


def test_roles_follow_from_what_an_account_has(cast: Cast) -> None:
    assert accounts.find(cast.ada.account_id).roles == {"student"}
    assert accounts.find(cast.iris.account_id).roles == {"instructor"}
    assert accounts.find(cast.max.id).roles == {"admin"}


def test_an_account_may_have_no_role(backend: Backend) -> None:
    assert accounts.find(an_account("zoe").id).roles == frozenset()
    assert backend


@pytest.mark.parametrize("kept", ["", "1", "1.", ".1", "x.1", "1.x", "-1.1", "1.1.1", "².1"])
def test_a_session_that_makes_no_sense_is_nobodys(backend: Backend, kept: str) -> None:
    assert accounts.of_session(kept) is None
    assert backend


def test_a_session_of_an_older_epoch_is_nobodys(cast: Cast) -> None:
    assert accounts.of_session(f"{cast.ada.account_id}.1") is not None
    assert accounts.of_session(f"{cast.ada.account_id}.0") is None


def test_a_visitor_who_was_seen_a_moment_ago_costs_no_query(cast: Cast) -> None:
    accounts.find(cast.ada.account_id)
    asked: list[str] = []
    engine = db.Sessions.kw["bind"]

    def note(*facts: object) -> None:
        asked.append(str(facts[2]))

    event.listen(engine, "before_cursor_execute", note)
    try:
        assert accounts.find(cast.ada.account_id)
    finally:
        event.remove(engine, "before_cursor_execute", note)
    assert asked == []


@pytest.fixture
def without_database(backend: Backend, monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Call it, and PostgreSQL is away until the test ends."""

    def leave() -> None:
        nowhere = create_engine("postgresql+psycopg2://localhost:1/none")
        monkeypatch.setitem(db.Sessions.kw, "bind", nowhere)
        monkeypatch.setattr(accounts, "FRESH_SECONDS", 0)

    assert backend
    return leave


def test_a_known_visitor_stays_known_while_the_database_is_away(
    cast: Cast, without_database: Callable[[], None]
) -> None:
    seen = accounts.find(cast.ada.account_id)
    without_database()
    assert accounts.find(cast.ada.account_id) == seen


def test_a_stranger_can_not_be_found_while_the_database_is_away(
    cast: Cast, without_database: Callable[[], None]
) -> None:
    without_database()
    with pytest.raises(OperationalError):
        accounts.find(cast.ben.account_id)
