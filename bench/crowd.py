"""A ledger by itself, in which very many students have their seats."""

import json
import random
import secrets
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from portal.embedded import Servers
from portal.embedded.folder import Folder
from portal.seats.answers import Answer
from portal.seats.asks import Candidate
from portal.seats.library import prefix
from portal.stores import commands
from tests.ledger.desk import OPEN, TERM, Desk
from tests.record.rush import ENROLL_EVERYONE, spec

SEATS, TAKEN = 3, 150  # of each student, of each section
FULL = 50  # sections that have no more
WAITING = 2  # more in line in each of those, for every promotion
CLAIMS, AT_ONCE = 200, 1000
AT = prefix(TERM)
# As so many claims leave it: seats, what each student has, and an answer under a request's key.
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

Ask = Callable[[], bool]  # of the ledger; whether it decided as it should


class Ledger:
    """A ledger whose sections have TAKEN seats taken, and FULL of them no others."""

    def __init__(self, stack: ExitStack, students: int, sections: int) -> None:
        folder = Folder(Path(stack.enter_context(tempfile.TemporaryDirectory())) / "var")
        folder.own()
        stack.callback(folder.release)
        servers = Servers(folder, durable=False, database_url="none is needed")
        stack.callback(servers.stop)
        servers.start()
        self.desk, self.redis = Desk(servers.redis_url), commands(servers.redis_url)
        self.students, self.sections = students, sections
        self.chance, self.asked = random.Random(1), set[tuple[int, int]]()
        self.full = range(1, sections + 1, sections // FULL)
        self._fill()

    def _fill(self) -> None:
        self.desk.open_window()
        self.desk.ledger.turn(TERM)
        for ids in batched(range(1, self.sections + 1)):
            specs = [spec(each, capacity=self._capacity(each)) for each in ids]
            self.desk.ledger.put_sections(TERM, specs)
        counts = {key: json.loads(said) for key, said in self.redis.hgetall(f"{AT}:seats").items()}
        taken = {key: json.dumps([said[0], TAKEN, *said[2:]]) for key, said in counts.items()}
        self.redis.hset(f"{AT}:seats", mapping=taken)
        fill = self.redis.register_script(FILL)
        self.desk.claim(self.students + 1, 2, credits=300, request="example")
        answer = self.redis.get(f"{AT}:request:{self.students + 1}:example")
        for ids in batched(range(1, self.students + 1)):
            fill([AT], [ids[0], ids[-1], self.sections, SEATS, answer])
        self.redis.xtrim(f"{AT}:journal", maxlen=1, approximate=False)  # all is recorded

    def _capacity(self, section: int) -> int:
        return TAKEN if section in self.full else self.students

    def claims(self) -> float:
        """Processor time (µs) of a claim, of anybody for anything where there are seats."""
        return self._each([self._a_claim() for _ in range(CLAIMS)])

    def promotions(self) -> float:
        """Processor time (µs) of a promotion, one in each of the full sections."""
        for section in self.full:
            for _ in range(WAITING):
                self._claim(self._somebody(section), section)
            holder = next(iter(self.redis.hscan_iter(f"{AT}:roster:{section}")))[0]
            self.desk.drop(int(holder), section)
        return self._each([self._a_promotion(section) for section in self.full])

    def _a_claim(self) -> Ask:
        section = self.chance.randint(1, self.sections)
        while section in self.full:
            section = self.chance.randint(1, self.sections)
        student = self._somebody(section)
        return lambda: self._claim(student, section).outcome == "enrolled"

    def _a_promotion(self, section: int) -> Ask:
        [head] = self.desk.ledger.head(TERM, section, 1)
        candidate = Candidate(head, (OPEN,), ENROLL_EVERYONE)
        return lambda: self.desk.ledger.promote(TERM, section, [candidate], "c").promoted == (head,)

    def _claim(self, student: int, section: int) -> Answer:
        wish = {"credits": 300, "limit": ENROLL_EVERYONE, "request": secrets.token_hex(16)}
        return self.desk.claim(student, section, **wish)

    def _somebody(self, section: int) -> int:
        """Somebody who has no part in it."""
        while True:
            student = self.chance.randint(1, self.students)
            holds = self.redis.hexists(f"{AT}:roster:{section}", str(student))
            if not holds and (section, student) not in self.asked:
                self.asked.add((section, student))
                return student

    def _each(self, asks: Sequence[Ask]) -> float:
        before = self._spent()
        done = [ask() for ask in asks]
        took = self._spent() - before
        if not all(done):
            raise SystemExit("The ledger did not decide as it should.")
        return took * 1e6 / len(asks)

    def _spent(self) -> float:
        """Seconds of its processor time."""
        told: Any = self.redis.info("cpu")
        return float(told["used_cpu_user"] + told["used_cpu_sys"])


def batched(ids: range) -> Iterator[range]:
    """So many at a time, as nobody else is answered meanwhile."""
    return (ids[at : at + AT_ONCE] for at in range(0, len(ids), AT_ONCE))
