"""Every decision that changes something is journaled and published in the same step."""

import json
from typing import Any

from portal.ledger.types import SECTION_FIELDS
from tests.ledger.requests import MINUTE, OPEN, TERM, Desk, meets

COUNTS = {
    "capacity": 1,
    "taken": 1,
    "waiting": 0,
    "waitlist_capacity": 5,
    "status": "OPEN",
    "passed": 0,
}


def without(event: dict[str, Any], *fields: str) -> dict[str, Any]:
    return {name: value for name, value in event.items() if name not in fields}


def test_section_is_journaled_with_all_its_settings(desk: Desk) -> None:
    times = (meets(5, 9, 10),)
    desk.section(12, capacity=1, prior=1, times=times, version=3)
    event = desk.last_event()
    assert set(SECTION_FIELDS) <= set(event)
    assert event == event | {
        "seq": 3,
        "name": "section_set",
        "version": 1,
        "aggregate": "section:12",
        "actor": "system",
        "correlation": "",
        "cause": "put_section",
        "section": 12,
        "capacity": 1,
        "waitlist": 5,
        "prior": 1,
        "status": "OPEN",
        "course": 12,
        "credits_min": 400,
        "credits_max": 400,
        "times": [list(times[0])],
        "section_version": 3,
        "seats": COUNTS,
    }


def test_empty_times_are_journaled_as_a_list(desk: Desk) -> None:
    desk.section(12, times=())
    assert desk.last_event()["times"] == []


def test_an_enrollment_is_journaled_with_its_metadata(desk: Desk) -> None:
    desk.section(12, capacity=1)
    answer = desk.claim(501, 12, actor="account:9", correlation="r-1", idempotency_key="k-1")
    assert desk.last_event() == {
        "seq": answer.seq,
        "at": answer.at,
        "name": "enrolled",
        "version": 1,
        "aggregate": "section:12",
        "actor": "account:9",
        "correlation": "r-1",
        "cause": "submit",
        "request": "k-1",
        "during": OPEN,
        "section": 12,
        "student": 501,
        "credits": 400,
        "registration": answer.seq,
        "seats": COUNTS,
    }


def test_each_kind_of_event_has_its_payload(desk: Desk) -> None:
    desk.section(12, capacity=1)
    header = ["at", "seq", "version", "aggregate", "actor", "correlation", "cause", "during"]

    def last() -> dict[str, Any]:
        return without(desk.last_event(), *header, "section", "seats")

    given = desk.claim(501, 12)
    position = desk.claim(502, 12)
    assert last() == {
        "name": "waitlisted",
        "student": 502,
        "credits": 400,
        "ticket": position.seq,
        "position": 1,
    }
    desk.drop(501, 12)
    assert last() == {
        "name": "dropped",
        "student": 501,
        "credits": 400,
        "registration": given.registration,
        "day": "today",
    }
    desk.promote(12, credit_limit=0)
    reason = {"code": "credit_limit", "facts": {"held": 0, "adds": 400, "limit": 0}}
    assert last() == {"name": "passed_over", "student": 502, "reasons": [reason]}
    desk.ledger.reconsider(TERM, 12)
    desk.promote(12)
    seq = desk.last_event()["seq"]
    assert last() == {"name": "promoted", "student": 502, "credits": 400, "registration": seq}
    desk.claim(503, 12)
    desk.leave(503, 12)
    assert last() == {"name": "left", "student": 503}


def test_windows_are_journaled(desk: Desk) -> None:
    now = desk.ledger.now()
    desk.ledger.put_window(TERM, 3, "Seniors", now, now + MINUTE, {"years": [4]}, "account:1")
    event = desk.last_event()
    assert without(event, "at", "seq", "version", "correlation", "cause") == {
        "name": "window_set",
        "aggregate": "window:3",
        "actor": "account:1",
        "window": 3,
        "window_name": "Seniors",
        "opens": now,
        "closes": now + MINUTE,
        "state": "scheduled",
        "cohort": {"years": [4]},
    }
    desk.ledger.close_window(TERM, 3, "account:1")
    assert desk.last_event()["state"] == "closed"


def test_events_are_numbered_without_gaps_and_the_stream_has_their_numbers(desk: Desk) -> None:
    desk.section(12, capacity=1)
    for student in range(500, 510):
        desk.claim(student, 12)
    ids = [entry for entry, _ in desk.redis.xrange(f"{{t:{TERM}}}:journal")]
    assert ids == [b"%d-0" % seq for seq in range(1, len(ids) + 1)]
    assert [event["seq"] for event in desk.events()] == list(range(1, len(ids) + 1))
    assert int(desk.redis.get(f"{{t:{TERM}}}:seq")) == len(ids)


def test_published_event_equals_the_journaled_one(desk: Desk) -> None:
    desk.section(12, capacity=1)
    with desk.redis.pubsub(ignore_subscribe_messages=True) as listener:
        listener.subscribe(f"{{t:{TERM}}}:live")
        listener.get_message(timeout=30)
        desk.claim(501, 12)
        message = listener.get_message(timeout=30)
    assert message
    assert json.loads(message["data"]) == desk.last_event()


def test_worker_is_enqueued_once_until_it_starts(desk: Desk) -> None:
    desk.section(12)
    desk.clear_woken()
    assert desk.claim(501, 12).wake == ("record",)
    assert desk.claim(502, 12).wake == ()
    desk.ledger.clear_woken(TERM, "record")
    assert desk.claim(503, 12).wake == ("record",)


def test_every_key_has_the_terms_prefix(desk: Desk) -> None:
    desk.section(12, capacity=1)
    desk.claim(501, 12, idempotency_key="k")
    desk.claim(502, 12)
    desk.drop(501, 12)
    desk.promote(12, credit_limit=0)
    assert all(key.startswith(b"{t:%d}:" % TERM) for key in desk.redis.keys("*"))
