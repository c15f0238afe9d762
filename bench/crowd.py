"""A ledger without a portal, filled with the seats of very many students."""

import json
import os
import random
import secrets
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, TypeVar

from bench import saturated
from bench.saturated import packed
from portal.core.redis_clients import commands
from portal.ledger.function_library import encode, prefix
from portal.ledger.types import Candidate, as_payload
from portal.runtime.data_folder import DataFolder
from portal.runtime.embedded_servers import Servers
from portal.web.http import request_limits
from tests.ledger.requests import OPEN, TERM, Desk
from tests.recorder.rush import ENROLL_EVERYONE, spec

SEATS, TAKEN = 3, 150  # seats of each student, seats taken in each section
FULL = 50  # full sections
WAITING = 2  # students who join the waitlist of each full section before every promotion
CLAIMS, AT_ONCE = 200, 1000
LISTENERS = 50
FLUSHES, PIECE = 50, 4096  # bytes
AT = prefix(TERM)
# The state after the claims of all students: seats, each student's sections, and a stored answer
# under an idempotency key.
FILL = """
local at, first, last, sections, each = KEYS[1], unpack(ARGV)
for student = first, last do
  for turn = 0, each - 1 do
    local section = (student * each + turn) % sections + 1
    redis.call('HSET', at .. ':student:' .. student, 'e:' .. section, 300)
    redis.call('HSET', at .. ':roster:' .. section, student, '300:4:1795362245182')
  end
  local request = redis.sha1hex(student)
  redis.call('SET', at .. ':request:' .. student .. ':' .. request, ARGV[5], 'EX', 86400)
end
"""

Ask = dict[str, Any]  # a request to the ledger
Found = TypeVar("Found")


class Ledger:
    """A ledger in which TAKEN seats of each section are taken; FULL sections have no others."""

    def __init__(
        self, stack: ExitStack, students: int, sections: int, *, durable: bool = False
    ) -> None:
        self.folder = DataFolder(Path(stack.enter_context(tempfile.TemporaryDirectory())) / "var")
        self.folder.own()
        stack.callback(self.folder.release)
        servers = Servers(self.folder, durable=durable, database_url="none is needed")
        stack.callback(servers.stop)
        servers.start()
        self.desk, self.redis = Desk(servers.redis_url), commands(servers.redis_url)
        self.students, self.sections = students, sections
        self.chance, self.requested = random.Random(1), set[tuple[int, int]]()
        self.full = range(1, sections + 1, sections // FULL)
        self._fill()

    def _fill(self) -> None:
        self.desk.open_window()
        self.desk.ledger.turn(TERM)
        for ids in batched(range(1, self.sections + 1)):
            specs = [spec(each, capacity=self._capacity(each)) for each in ids]
            self.desk.ledger.put_sections(TERM, specs)
        counts = {key: json.loads(text) for key, text in self.redis.hgetall(f"{AT}:seats").items()}
        taken = {key: json.dumps([text[0], TAKEN, *text[2:]]) for key, text in counts.items()}
        self.redis.hset(f"{AT}:seats", mapping=taken)
        fill = self.redis.register_script(FILL)
        self.desk.claim(self.students + 1, 2, credits=300, idempotency_key="example")
        answer = self.redis.get(f"{AT}:request:{self.students + 1}:example")
        for ids in batched(range(1, self.students + 1)):
            fill([AT], [ids[0], ids[-1], self.sections, SEATS, answer])
        self.redis.xtrim(f"{AT}:journal", maxlen=1, approximate=False)  # as if all were recorded

    def _capacity(self, section: int) -> int:
        return TAKEN if section in self.full else self.students

    def claims(self) -> float:
        """Return the processor time (µs) of a claim by any student for a section with seats."""
        asks = [self._a_claim() for _ in range(CLAIMS)]
        took, replies = self._each(len(asks), lambda: self._all("submit", asks))
        if any(reply["results"][0]["outcome"] != "enrolled" for reply in replies):
            raise SystemExit("A claim did not get its seat.")
        return took

    def rush(self, many: int, listeners: int = 0) -> tuple[float, float]:
        """Return claims a second over very many connections, and the processor time (µs) of each.

        Each claim counts against its student's rate limit, as behind the gate. `listeners` is the
        number of connections subscribed to the live updates.
        """
        path = self.redis.connection_pool.connection_kwargs["path"]
        charge = request_limits.Charge(request_limits.DECISIONS, "each student")
        rate = {"rate": {"cost": charge.time, "size": charge.size}}
        asks = [self._packed(self._a_claim() | rate) for _ in range(many)]
        began = time.perf_counter()
        took, replies = self._each(many, lambda: saturated.replies(path, asks, listeners))
        claims_per_s = many / (time.perf_counter() - began)
        if sum(b'"enrolled"' in reply for reply in replies if isinstance(reply, bytes)) < many:
            raise SystemExit("A claim did not get its seat.")
        return claims_per_s, took

    def flush(self) -> float:
        """Return the median time (µs) to append a little to a file in its folder and flush it."""
        took = []
        with tempfile.TemporaryFile(dir=self.folder.path) as file:
            for _ in range(FLUSHES):
                file.write(b"x" * PIECE)
                file.flush()
                began = time.perf_counter()
                os.fdatasync(file.fileno())
                took.append(time.perf_counter() - began)
        return statistics.median(took) * 1e6

    def promotions(self) -> float:
        """Return the processor time (µs) of a promotion, measured with one in each full section."""
        for section in self.full:
            wait = [self._ask(self._somebody(section), section) for _ in range(WAITING)]
            self._all("submit", wait)
            holder = next(iter(self.redis.hscan_iter(f"{AT}:roster:{section}")))[0]
            self.desk.drop(int(holder), section)
        asks = [self._a_promotion(each) for each in self.full]
        took, replies = self._each(len(asks), lambda: self._all("promote", asks))
        if any(len(reply["promoted"]) != 1 for reply in replies):
            raise SystemExit("A freed seat did not go to the next student on the waitlist.")
        return took

    def _a_claim(self) -> Ask:
        section = self.chance.randint(1, self.sections)
        while section in self.full:
            section = self.chance.randint(1, self.sections)
        return self._ask(self._somebody(section), section)

    def _a_promotion(self, section: int) -> Ask:
        [head] = self.desk.ledger.head(TERM, section, 1)
        candidate = as_payload(Candidate(head, (OPEN,), ENROLL_EVERYONE))
        return {"section": section, "candidates": [candidate], "correlation": "c"}

    def _ask(self, student: int, section: int) -> Ask:
        return {
            "student": student,
            "idempotency_key": secrets.token_hex(16),
            "credit_limit": ENROLL_EVERYONE,
            "windows": [OPEN],
            "choices": [{"alternatives": [[{"section": section, "credits": 300}]], "wait": True}],
            "actor": f"student:{student}",
            "correlation": "c",
        }

    def _somebody(self, section: int) -> int:
        """Return a random student without a seat in the section and not chosen for it before."""
        while True:
            student = self.chance.randint(1, self.students)
            holds = self.redis.hexists(f"{AT}:roster:{section}", str(student))
            if not holds and (section, student) not in self.requested:
                self.requested.add((section, student))
                return student

    def _all(self, op: str, asks: Sequence[Ask]) -> list[Any]:
        """Return the replies to all requests, sent in one round trip."""
        return self.desk.ledger.library.ask_all(op, TERM, asks)

    def _packed(self, ask: Ask) -> bytes:
        return packed(b"FCALL", b"fairseat_submit", b"1", AT.encode(), encode(ask).encode())

    def _each(self, many: int, ask: Callable[[], Found]) -> tuple[float, Found]:
        """Return the processor time (µs) per decision, and the result of `ask`."""
        before = self._spent()
        found = ask()
        return (self._spent() - before) * 1e6 / many, found

    def _spent(self) -> float:
        """Return the ledger's processor time so far, in seconds."""
        usage: Any = self.redis.info("cpu")
        return float(usage["used_cpu_user"] + usage["used_cpu_sys"])


def batched(ids: range) -> Iterator[range]:
    """Yield the ids in batches of AT_ONCE, because the ledger answers nothing else meanwhile."""
    return (ids[at : at + AT_ONCE] for at in range(0, len(ids), AT_ONCE))
