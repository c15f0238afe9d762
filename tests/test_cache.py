"""What a process remembers of PostgreSQL."""

import pytest
from sqlalchemy.exc import OperationalError

from portal.cache import Cache


class Database:
    """Counts how often it is read, and can be away."""

    def __init__(self) -> None:
        self.reads = 0
        self.away = False

    def read(self, key: str) -> str:
        if self.away:
            raise OperationalError("SELECT", {}, Exception("away"))
        self.reads += 1
        return f"{key} {self.reads}"


def test_a_value_is_read_once_while_it_is_fresh() -> None:
    database = Database()
    cache = Cache(database.read, seconds=60)
    assert [cache.get("ada"), cache.get("ada"), cache.get("ben")] == ["ada 1", "ada 1", "ben 2"]


def test_a_value_that_is_too_old_is_read_anew() -> None:
    cache = Cache(Database().read, seconds=0)
    assert [cache.get("ada"), cache.get("ada")] == ["ada 1", "ada 2"]


def test_a_value_too_old_serves_while_the_database_is_away() -> None:
    database = Database()
    cache = Cache(database.read, seconds=0)
    cache.get("ada")
    database.away = True
    assert cache.get("ada") == "ada 1"


def test_what_was_never_read_is_an_error_while_the_database_is_away() -> None:
    database = Database()
    database.away = True
    with pytest.raises(OperationalError):
        Cache(database.read, seconds=60).get("ada")


def test_a_forgotten_value_is_read_anew() -> None:
    cache = Cache(Database().read, seconds=60)
    cache.get("ada")
    cache.forget("ada")
    assert cache.get("ada") == "ada 2"
    cache.clear()
    assert cache.get("ada") == "ada 3"
