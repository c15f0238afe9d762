"""No count goes backwards or is lost, and nothing that is said ends the listening."""

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from threading import Thread

import pytest

from portal.backend import Backend
from portal.catalog.models import Section
from portal.core import redis_clients
from portal.ledger.errors import LedgerUnavailable
from portal.ledger.types import SeatCounts
from portal.live.seat_counts import SeatCountCache
from portal.live.subscription import Subscription
from portal.windows.warmup import spec
from tests.cast import Cast
from tests.live.conftest import Claim, Open

Begin = Callable[[Subscription], Thread]
SILENT = dict.fromkeys(("live", "recorded", "signal", "ended"), print)


@pytest.fixture
def begin() -> Iterator[Begin]:
    begun: list[tuple[Subscription, Thread]] = []

    def begin_one(subscription: Subscription) -> Thread:
        thread = Thread(target=subscription.run, daemon=True)
        begun.append((subscription, thread))
        thread.start()
        return thread

    yield begin_one
    for subscription, thread in begun:
        subscription.ended = True
        thread.join(5)


def reader(backend: Backend, meanwhile: Callable[[], None]) -> SeatCountCache:
    """Return counts; during each reading, something happens."""

    def read(term: int) -> dict[int, SeatCounts]:
        found = backend.ledger.seats(term)
        meanwhile()
        return found

    return SeatCountCache(read, lambda seats, _staff: f"{seats.open} open")


def last_event(backend: Backend, term: int) -> dict[str, object]:
    [(_, entry)] = backend.redis.xrevrange(f"{{t:{term}}}:journal", count=1)
    event: dict[str, object] = json.loads(entry[b"event"])
    return event


def test_what_happens_during_the_first_reading_is_kept(
    backend: Backend, section: Section, claim: Claim
) -> None:
    def meanwhile() -> None:
        claim(7_001, section.id)
        counts.update(section.term_id, last_event(backend, section.term_id))

    counts = reader(backend, meanwhile)
    assert counts.of(section.term_id)[section.id].open == 1


def test_a_reading_that_was_overtaken_takes_nothing_back(
    backend: Backend, section: Section, claim: Claim
) -> None:
    students = iter((7_001, 7_002))
    heard: list[set[int]] = []

    def meanwhile() -> None:
        claim(next(students), section.id)
        heard.append(counts.update(section.term_id, last_event(backend, section.term_id)))

    counts = reader(backend, meanwhile)
    shown = counts.of(section.term_id)
    assert counts.reload(section.term_id) == set()  # as it has been told already
    assert heard == [set(), {section.id}]
    assert shown[section.id].open == 0


def test_a_reading_that_fails_leaves_nothing_half_known(backend: Backend, section: Section) -> None:
    def meanwhile() -> None:
        counts.update(section.term_id, last_event(backend, section.term_id))
        raise LedgerUnavailable

    counts = reader(backend, meanwhile)
    with pytest.raises(LedgerUnavailable):
        counts.of(section.term_id)
    assert counts.terms == []


def test_a_ledger_that_was_put_back_is_believed(
    backend: Backend, section: Section, claim: Claim
) -> None:
    counts = SeatCountCache(backend.ledger.seats, lambda seats, _staff: f"{seats.open} open")
    before = backend.redis.dump(f"{{t:{section.term_id}}}:seats")
    claim(7_001, section.id)
    assert counts.of(section.term_id)[section.id].open == 1
    backend.redis.restore(f"{{t:{section.term_id}}}:seats", 0, before, replace=True)
    assert counts.reload(section.term_id) == {section.id}
    assert counts.of(section.term_id)[section.id].open == 2


@pytest.mark.parametrize(
    "said",
    [
        "not json",
        "[]",
        "{}",
        '{"name": "enrolled", "seq": "x", "section": SECTION, "seats": {}}',
        '{"name": "enrolled", "seq": 1, "section": [1], "seats": {"capacity": 1}}',
        '{"name": "something_new", "seq": 1, "section": SECTION, "seats": null}',
    ],
)
def test_an_update_that_makes_no_sense_is_ignored(
    cast: Cast, backend: Backend, section: Section, open_tab: Open, said: str
) -> None:
    tab = open_tab(cast.ada.account_id)
    tab.ask(section.term_id, [section.id])
    tab.shows(section.id, 2)
    for channel in ("live", "recorded", "signal"):
        words = said.replace("SECTION", str(section.id))
        backend.redis.publish(f"{{t:{section.term_id}}}:{channel}", words)
    later = spec(section, ())
    backend.ledger.put_section(section.term_id, replace(later, capacity=9, version=99))
    tab.shows(section.id, 9)


def test_what_a_newer_ledger_adds_to_an_event_is_passed_by(
    cast: Cast, backend: Backend, section: Section, open_tab: Open
) -> None:
    tab = open_tab(cast.ada.account_id)
    tab.ask(section.term_id, [section.id])
    tab.shows(section.id, 2)
    event = last_event(backend, section.term_id)
    seats = {"capacity": 9, "taken": 2, "waiting": 0, "waitlist_capacity": 5, "status": "OPEN"}
    newer = {**event, "seq": 10_000, "seats": {**seats, "held_back": 3}, "mood": "new"}
    backend.redis.publish(f"{{t:{section.term_id}}}:live", json.dumps(newer))
    tab.shows(section.id, 7)


def test_listening_starts_again_after_any_error(backend: Backend, begin: Begin) -> None:
    begun: list[float] = []

    def catch_up() -> None:
        begun.append(time.monotonic())
        if len(begun) == 1:
            raise TypeError("a mistake of ours")

    redis = redis_clients.subscriber(backend.settings.redis_url)
    begin(Subscription(redis, begun=catch_up, handlers=SILENT))
    deadline = time.monotonic() + 60
    while len(begun) < 2:
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_a_ledger_that_is_away_for_hours_is_still_waited_for(
    begin: Begin, monkeypatch: pytest.MonkeyPatch
) -> None:
    nowhere = redis_clients.subscriber("redis://127.0.0.1:1/0")
    subscription = Subscription(nowhere, begun=print, handlers=SILENT)
    monkeypatch.setattr(subscription, "_failures", 100_000)
    monkeypatch.setattr("portal.live.subscription.LONGEST_WAIT_SECONDS", 0.06)
    thread = begin(subscription)
    time.sleep(0.5)
    assert thread.is_alive()
