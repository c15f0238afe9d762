"""Connections to PostgreSQL: what becomes of one that rested; what looks and transactions are."""

from collections.abc import Iterator
from contextlib import closing

import psycopg2
import pytest
from sqlalchemy import text

from portal.backend import Backend
from portal.core import db

ALL = 20  # in as many turns each connection of the pool has been used
OWN = text("SELECT pg_backend_pid()")
NUMBER = text("SELECT pg_current_xact_id()::text")


@pytest.fixture(autouse=True)
def _pool(connected: Backend) -> Iterator[None]:
    """A pool of the test's own."""
    db.connect(connected.settings.database_url)
    yield
    db.connect(connected.settings.database_url)


def test_a_connection_that_ended_while_it_rested_is_replaced_unseen(connected: Backend) -> None:
    with db.transaction() as session:
        own = session.scalar(OWN)
    with closing(psycopg2.connect(connected.settings.database_url)) as other:
        other.cursor().execute("SELECT pg_terminate_backend(%s, 10000)", [own])
    for _ in range(ALL):
        with db.transaction() as session:
            assert session.scalar(OWN) != own


def test_a_look_has_no_transaction_around_it() -> None:
    with db.read_only() as session:
        assert session.scalar(NUMBER) != session.scalar(NUMBER)


def test_a_transaction_after_a_look_on_the_same_connection_is_whole() -> None:
    for kind in (db.read_only, db.transaction):
        for _ in range(ALL):
            with kind() as session:
                one, other = session.scalar(NUMBER), session.scalar(NUMBER)
    assert one == other
