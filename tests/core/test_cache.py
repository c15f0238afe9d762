"""What a process remembers of PostgreSQL."""

from collections.abc import Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import BoundedSemaphore, Event

import pytest
from sqlalchemy.exc import OperationalError

from portal.core import flags
from portal.core import outage as outages
from portal.core.cache import AT_ONCE, Cache
from portal.core.outage import Outage
from tests.recorder.processes import wait_for


class Database:
    """Counts how often it is asked, and can be away, or silent until it is told to speak."""

    def __init__(self) -> None:
        self.asked = 0
        self.away = False
        self.speaks = Event()
        self.speaks.set()
        self.reached = Event()

    def read(self, key: str) -> str:
        self.asked += 1
        mine = self.asked
        self.reached.set()
        assert self.speaks.wait(10)
        if self.away:
            raise OperationalError("SELECT", {}, Exception("away"))
        if key == "nobody":
            raise LookupError(key)
        return f"{key} {mine}"

    def fall_silent(self) -> None:
        self.reached.clear()
        self.speaks.clear()

    def cache(self, seconds: float, outage: Outage | None = None) -> Cache[str, str]:
        return Cache(self.read, seconds, outage=outage or Outage())


@pytest.fixture
def database() -> Database:
    return Database()


@pytest.fixture
def others() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(8) as pool:
        yield pool


@pytest.fixture
def no_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    """PostgreSQL is asked again at once after it has failed."""
    monkeypatch.setattr(outages, "REST", 0.0)


def test_a_value_is_read_once_while_it_is_fresh(database: Database) -> None:
    cache = database.cache(60)
    assert [cache.get("ada"), cache.get("ada"), cache.get("ben")] == ["ada 1", "ada 1", "ben 2"]


def test_a_value_that_is_too_old_is_read_again(database: Database) -> None:
    cache = database.cache(0)
    assert [cache.get("ada"), cache.get("ada")] == ["ada 1", "ada 2"]


def test_one_reads_again_while_others_take_the_older_value(
    database: Database, others: ThreadPoolExecutor
) -> None:
    cache = database.cache(0)
    cache.get("ada")
    database.fall_silent()
    reader = others.submit(cache.get, "ada")
    assert database.reached.wait(5)
    assert [cache.get("ada") for _ in range(5)] == ["ada 1"] * 5
    database.speaks.set()
    assert reader.result() == "ada 2"
    assert database.asked == 2


def test_many_who_ask_for_what_no_one_knows_read_it_once(
    database: Database, others: ThreadPoolExecutor
) -> None:
    cache = database.cache(60)
    database.fall_silent()
    found = [others.submit(cache.get, "ada") for _ in range(8)]
    assert database.reached.wait(5)
    database.speaks.set()
    assert {each.result() for each in found} == {"ada 1"}
    assert database.asked == 1


class Places(BoundedSemaphore):
    """Count how often a reader asks for a place."""

    asked = 0

    def __enter__(self) -> bool:
        self.asked += 1
        return super().__enter__()

    @property
    def free(self) -> int:
        return self._value


def test_a_reader_whose_key_another_reads_takes_a_place_once(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    speaks = Event()

    def read_many(keys: Collection[str]) -> dict[str, str]:
        assert speaks.wait(10)
        return dict.fromkeys(keys, "together")

    cache: Cache[str, str] = Cache(database.read, 60, outage=Outage(), read_many=read_many)
    places = Places(AT_ONCE)
    monkeypatch.setattr(cache, "_places", places)
    database.fall_silent()
    alone = [str(number) for number in range(AT_ONCE)]
    together = ["ada", "ben", "cleo"]
    with ThreadPoolExecutor(AT_ONCE + len(together)) as pool:
        first = [pool.submit(cache.get, key) for key in alone]
        wait_for(lambda: database.asked == AT_ONCE)
        later = [pool.submit(cache.get, key) for key in together]
        wait_for(lambda: places.asked == AT_ONCE + len(together))
        database.speaks.set()
        wait_for(lambda: all(each.done() for each in first))
        wait_for(lambda: places.free >= AT_ONCE - 1)
        speaks.set()
        assert [each.result() for each in later] == ["together"] * len(together)
    assert places.asked == AT_ONCE + len(together)


def test_a_value_too_old_serves_while_the_database_is_away(database: Database) -> None:
    cache = database.cache(0)
    cache.get("ada")
    database.away = True
    assert cache.get("ada") == "ada 1"


def test_after_a_failure_what_is_known_is_given_without_asking(database: Database) -> None:
    outage = Outage()
    one, another = database.cache(0, outage), database.cache(0, outage)
    one.get("ada")
    another.get("ben")
    database.away = True
    one.get("ada")
    assert database.asked == 3
    assert [one.get("ada"), another.get("ben")] == ["ada 1", "ben 2"]
    assert database.asked == 3


@pytest.mark.usefixtures("no_rest")
def test_the_database_is_asked_again_after_a_while(database: Database) -> None:
    cache = database.cache(0)
    cache.get("ada")
    database.away = True
    cache.get("ada")
    database.away = False
    wait_for(lambda: cache.get("ada") != "ada 1")


@pytest.mark.usefixtures("no_rest")
def test_no_one_waits_for_a_silent_database_once_it_is_away(database: Database) -> None:
    cache = database.cache(0)
    cache.get("ada")
    database.away = True
    cache.get("ada")
    database.fall_silent()
    assert [cache.get("ada"), cache.get("ada")] == ["ada 1", "ada 1"]
    assert database.reached.wait(5)
    database.speaks.set()


def test_what_is_read_for_another_ends_the_outage(database: Database) -> None:
    cache = database.cache(0)
    cache.get("ada")
    database.away = True
    cache.get("ada")
    database.away = False
    assert cache.get("ben") == "ben 3"
    assert cache.get("ada") == "ada 4"


def test_what_was_never_read_is_an_error_while_the_database_is_away(database: Database) -> None:
    database.away = True
    with pytest.raises(OperationalError):
        database.cache(60).get("ada")


def test_what_is_not_there_is_asked_for_again(database: Database) -> None:
    cache = database.cache(60)
    for _ in range(2):
        with pytest.raises(LookupError):
            cache.get("nobody")
    assert database.asked == 2


def test_a_forgotten_value_is_read_again(database: Database) -> None:
    cache = database.cache(60)
    cache.get("ada")
    cache.forget("ada")
    assert cache.get("ada") == "ada 2"
    cache.clear()
    assert (cache.peek("ada"), cache.get("ada"), cache.peek("ada")) == (None, "ada 3", "ada 3")


def test_a_value_in_doubt_is_read_again_and_serves_while_the_database_is_away(
    database: Database,
) -> None:
    cache = database.cache(60)
    assert cache.get("a") == "a 1"
    database.away = True
    cache.doubt("a")
    assert cache.get("a") == "a 1"
    cache = database.cache(60)
    database.away = False
    assert cache.get("a") == "a 3"
    cache.doubt("a")
    cache.doubt("b")
    assert cache.get("a") == "a 4"


def test_what_was_being_read_when_it_was_forgotten_is_not_kept(
    database: Database, others: ThreadPoolExecutor
) -> None:
    cache = database.cache(60)
    database.fall_silent()
    reader = others.submit(cache.get, "ada")
    assert database.reached.wait(5)
    cache.forget("ada")
    database.speaks.set()
    assert reader.result() == "ada 1"
    assert cache.get("ada") == "ada 2"


def test_values_that_are_read_at_once_are_kept(database: Database) -> None:
    cache = database.cache(60)
    assert cache.fill(lambda: {"ada": "ada 0", "ben": "ben 0"}) == {"ada": "ada 0", "ben": "ben 0"}
    assert [cache.get("ada"), cache.get("ben")] == ["ada 0", "ben 0"]
    assert database.asked == 0


def test_nothing_is_kept_of_what_was_read_at_once_if_some_was_forgotten_meanwhile(
    database: Database,
) -> None:
    cache = database.cache(60)

    def read() -> dict[str, str]:
        cache.forget("ada")
        return {"ada": "ada 0"}

    cache.fill(read)
    assert cache.get("ada") == "ada 1"


def test_switched_off_it_reads_each_time_and_still_knows_the_last_while_away(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = database.cache(seconds=60)
    monkeypatch.setattr(flags, "_off", frozenset({"caches"}))
    assert [cache.get("ada"), cache.get("ada")] == ["ada 1", "ada 2"]
    database.away = True
    assert cache.get("ada") == "ada 2"
