"""With several processes, each student has one place in one queue."""

import json
import random
from typing import Any

from portal import backend as connections
from portal.backend import Backend
from portal.core.settings import Settings
from portal.waiting_room import room
from tests import cast as builders
from tests.channels import told
from tests.ledger.crowd import together

PROCESSES, STUDENTS, AT_ONCE = 4, 120, 7


def come_and_go(all_here: Any, term: int, window: int, seed: int) -> list[tuple[int, str]]:
    """Let every student join from this process too, in another order; then end all visits."""
    redis = connections.connect(Settings.read()).redis
    crowd = random.Random(seed).sample(range(1, STUDENTS + 1), STUDENTS)
    all_here.wait()
    places = [(student, room.enter(term, window, student).request) for student in crowd]
    all_here.wait()
    room.set_limits(term, window, 600_000, AT_ONCE, off=False)
    while room.queue_entry(term, window, 0).room.waiting:
        for student in redis.zrange(f"{{t:{term}}}:room:{window}:in", 0, -1):
            room.leave(term, window, int(student))
    return places


def test_simultaneous_processes_keep_one_queue(backend: Backend, term: Any) -> None:
    window = builders.an_open_window(term)
    room.set_limits(term.id, window.id, 0, AT_ONCE, off=False)
    with backend.redis.pubsub() as messages:
        messages.subscribe(f"{{t:{term.id}}}:room")
        shares = [(come_and_go, term.id, window.id, seed) for seed in range(PROCESSES)]
        places = [position for share in together(shares) for position in share]
        events = [json.loads(each["data"]) for each in told(messages)]
    assert len(dict(places)) == len(set(places)) == STUDENTS
    called = [student for each in events for student in each["students"] or ()]
    assert called == [student for _, student in sorted(_numbered(backend, term.id, window.id))]
    assert max(each["inside"] for each in events) == AT_ONCE
    assert room.state(term.id, window.id).waiting == 0


def _numbered(backend: Backend, term: int, window: int) -> list[tuple[int, int]]:
    base = f"{{t:{term}}}:room:{window}"
    line: Any = backend.redis.zrange(f"{base}:line", 0, -1)
    owners: Any = backend.redis.hmget(f"{base}:who", line)
    return [(number, int(owner.partition(b":")[0])) for number, owner in enumerate(owners)]
