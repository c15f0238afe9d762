"""Write what a release leaves behind: `python -m tests.upgrade.release`, before each release.

`tests/upgrade/<version>/` holds a backup of PostgreSQL, the ledger's keys, and what must be found
again after an upgrade. The last decisions are in the ledger alone, as when a recorder was stopped.
"""

import json
import os
import tempfile
from base64 import b64decode, b64encode
from importlib.metadata import version
from pathlib import Path
from typing import Any

from sqlalchemy import select

from portal import backend as connections
from portal import subscribers
from portal.core import schema
from portal.core.checkpoints import checkpoint
from portal.core.db import transaction
from portal.core.settings import Settings
from portal.people.models import Account
from portal.recorder.journal import last_seq
from portal.recorder.recorder import drain
from portal.runtime import backup
from portal.runtime.data_folder import DataFolder
from portal.runtime.embedded_servers import Servers
from portal.windows.warmup import warm_up
from tests.cast import a_course, a_section, a_student, a_term, an_open_window, assemble
from tests.recorder.rush import Rush, claim, drop, leave

FOLDER = Path(__file__).parent
LEDGER, EXPECTED = "ledger.json", "expected.json"
DAY = 24 * 60 * 60 * 1000  # ms: for so long an answer is stored


def make_history() -> dict[str, Any]:
    """Register, wait, swap, drop and leave; return what must be found again."""
    term = a_term("Fall 2030")
    window = an_open_window(term)
    sections = [
        a_section(a_course(f"CSC-{1100 + number}", credits=3), term, capacity=2).id
        for number in range(4)
    ]
    students = [a_student(f"student{number}").id for number in range(6)]
    warm_up(term.id)
    rush = Rush(term.id, sections, students, window.id)
    for student in students:
        for section in sections[:2]:
            claim(rush, student, section, idempotency_key=f"{student}-{section}")
    claim(rush, students[0], sections[2], swap_out=sections[0])
    drop(rush, students[1], sections[1])
    leave(rush, students[4], sections[0])
    drain(term.id)
    assert held(term.id)
    assert waiting(term.id)
    claim(rush, students[5], sections[3], idempotency_key="unrecorded")
    assert checkpoint(term.id) < last_seq(term.id)
    return {
        "term": term.id,
        "window": window.id,
        "held": sorted(held(term.id)),
        "waiting": sorted(waiting(term.id)),
        "answered": {"student": students[5], "section": sections[3], "request": "unrecorded"},
        "free": {"student": students[1], "section": sections[3]},
    }


def held(term: int) -> set[tuple[int, int]]:
    """Return who holds which seat, as (student, section), by the ledger."""
    return _members(term, "roster", lambda redis, key: redis.hkeys(key))


def waiting(term: int) -> set[tuple[int, int]]:
    """Return who waits for which section, as (student, section), by the ledger."""
    return _members(term, "queue", lambda redis, key: redis.zrange(key, 0, -1))


def _members(term: int, kind: str, read: Any) -> set[tuple[int, int]]:
    redis = connections.backend().redis
    return {
        (int(student), int(key.rpartition(b":")[2]))
        for key in redis.scan_iter(match=f"{{t:{term}}}:{kind}:*")
        for student in read(redis, key)
    }


def dump(redis: Any) -> dict[str, str]:
    """Return every key of the ledger in the server's own format."""
    keys = sorted(redis.scan_iter(match="{t:*"))
    return {key.decode(): b64encode(redis.dump(key) or b"").decode() for key in keys}


def load(redis: Any, dumped: dict[str, str]) -> None:
    """Write the keys that `dump` returned."""
    for key, value in dumped.items():
        redis.restore(key, DAY if ":request:" in key else 0, b64decode(value))


def write(folder: Path) -> None:
    """Write the release of this code into the folder."""
    with tempfile.TemporaryDirectory() as place:
        data = DataFolder(Path(place) / "var")
        data.own()
        servers = Servers(data, durable=False)
        servers.start()
        try:
            schema.upgrade(servers.owner_url, portal=servers.database_url)
            urls = {"DATABASE_URL": servers.database_url, "REDIS_URL": servers.redis_url}
            os.environ.update(urls, SECRET_KEY="a release")
            here = connections.connect(Settings.read())
            subscribers.connect()
            here.ledger.library.load()
            with transaction() as session:
                assert not session.scalar(select(Account.id).limit(1))
            assemble()
            expected = make_history()
            backup.make(servers.owner_url, folder)
            (folder / LEDGER).write_text(json.dumps(dump(here.redis), indent=0))
            (folder / EXPECTED).write_text(json.dumps(expected, indent=1))
        finally:
            servers.stop()
            data.release()


if __name__ == "__main__":
    write(FOLDER / version("fairseat"))
