"""What ten thousand who wait cost: processor time for pages that are told, and for such that ask.

Real web processes, the real clock and ledger, whose time alone is counted. Some of the ten thousand
have a page open; what those cost is multiplied.
"""

import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT)]

import psutil  # noqa: E402

from bench import load, portal_on_trial, stage  # noqa: E402
from bench.sockets import Pages  # noqa: E402
from portal import create_app  # noqa: E402
from portal.backend import backend  # noqa: E402
from portal.config import Settings  # noqa: E402
from portal.gate import room, waits  # noqa: E402
from portal.gate.places import Place  # noqa: E402
from portal.live import rooms  # noqa: E402
from portal.running.children import Child  # noqa: E402
from tests.record.rush import Rush, a_rush  # noqa: E402

PORT = 8794
WAITERS, PAGES, POLLS = 10_000, 2000, 1000
PROCESSES = 2
SECONDS = 12.0
FIGURES = {
    "waiters_told": ("cores", "10,000 open pages in a line that moves each second, all processes"),
    "waiters_still": ("cores", "the same in a line that stands still: signs of life"),
    "waiters_message_us": ("µs", "one message to one page"),
    "waiters_asking": ("cores", "10,000 pages without a socket, that ask when they are told to"),
    "waiters_ask_per_s": ("1/s", "how often those ask, all together"),
}


@dataclass
class Cost:
    """Processor seconds, by who spent them, in so many seconds."""

    took: float = 0.0
    spent: dict[str, float] = field(default_factory=dict)

    @property
    def total(self) -> float:
        return sum(self.spent.values())


Meter = Callable[[], AbstractContextManager[Cost]]


def figures(_: int = 0, **_how: bool) -> dict[str, float]:
    """The figures above."""
    with ExitStack() as stack:
        folder = stage.servers(stack)
        app = create_app(Settings.read())
        web = stage.web(folder, "web", PORT, "wsgi:app", WEB_CONCURRENCY=str(PROCESSES))
        clock = Child("clock", stage.cli("clock"), folder.log("clock"))
        for child in (web, clock):
            stage.started(stack, child)
        stage.patiently(lambda: load.run(PORT, [get("/clock")] * 20, 4))
        hall = a_rush(sections=1, students=WAITERS)
        room.set_limits(hall.term, hall.window, 0, WAITERS, off=False)
        with ThreadPoolExecutor(16) as pool:
            list(pool.map(lambda each: room.enter(hall.term, hall.window, each), hall.students))
        cookies = portal_on_trial.cookies(app, "rush", PAGES)
        meter = meter_of(web, clock)
        still, message = pushes(hall, cookies, meter)
        a_second, asked = asking(hall, cookies[-POLLS:], meter)
    idle = (still.spent["web"] * WAITERS / PAGES + still.spent["clock"]) / still.took
    idle += still.spent["ledger"] * WAITERS / PAGES / still.took
    messages = WAITERS / rooms.pause(WAITERS // PROCESSES)
    return {
        "waiters_told": idle + message * messages,
        "waiters_still": idle,
        "waiters_message_us": message * 1_000_000,
        "waiters_asking": asked.total / POLLS * a_second,
        "waiters_ask_per_s": a_second,
    }


def pushes(hall: Rush, cookies: list[str], meter: Meter) -> tuple[Cost, float]:
    """What open pages cost while the line stands still, and each message as it moves (seconds)."""
    pages = Pages(PORT)
    pages.open(cookies, {"term": hall.term, "sections": [], "room": hall.window})
    time.sleep(SECONDS / 3)  # until the rush of their opening is over
    with meter() as still:
        time.sleep(SECONDS)
    pages.heard.clear()
    room.set_limits(hall.term, hall.window, 60, WAITERS, off=False)
    with meter() as told:
        time.sleep(SECONDS)
    room.set_limits(hall.term, hall.window, 0, WAITERS, off=False)
    if pages.lost or pages.heard["room"] < len(cookies):
        raise SystemExit(f"Pages did not hear: {pages.lost} lost, {pages.heard}")
    pages.close()
    print(f"still {still.spent}, told {told.spent}, {pages.heard['room']} messages")
    return still, (told.total - still.total) / pages.heard["room"]


def asking(hall: Rush, cookies: list[str], meter: Meter) -> tuple[float, Cost]:
    """How often all ask in a second, where they have no socket, and what some of that cost."""
    address = f"/live/room?term={hall.term}&room={hall.window}"
    questions = [get(address, cookie) for cookie in cookies]
    load.run(PORT, questions, 16)  # who asks has asked before
    with meter() as asked:
        answers = load.run(PORT, questions, 16)
    if set(answers.statuses) != {200}:
        raise SystemExit(f"Not every question was answered well: {dict(answers.statuses)}")
    print(f"{asked.total / len(cookies) * 1000:.2f} ms a question, {asked.spent}")
    per_minute, at_once = backend().settings.room or (0, 0)
    usual = {"per_minute": per_minute, "at_once": at_once}
    stands = replace(room.state(hall.term, hall.window), **usual)
    everyone = [Place("waiting", stands, ahead=each) for each in range(WAITERS)]
    return sum(1 / waits.interval(each) for each in everyone), asked


def get(address: str, cookie: str = "") -> bytes:
    """A request."""
    return f"GET {address} HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: {cookie}\r\n\r\n".encode()


def meter_of(web: Child, clock: Child) -> Meter:
    """Measures blocks by the time of the web processes, the clock and the ledger."""
    everyone = psutil.Process().children(recursive=True)
    named = {
        each.process.pid: name for name, each in (("web", web), ("clock", clock)) if each.process
    }
    counted = {each: named.get(each.pid) or named.get(each.ppid()) for each in everyone}
    counted |= {each: "ledger" for each in everyone if "valkey" in each.name()}

    def spent() -> dict[str, float]:
        total = dict.fromkeys(("web", "clock", "ledger"), 0.0)
        for process, name in counted.items():
            if name:
                times = process.cpu_times()
                total[name] += times.user + times.system
        return total

    @contextmanager
    def meter() -> Iterator[Cost]:
        cost, before, began = Cost(), spent(), time.monotonic()
        yield cost
        cost.took = time.monotonic() - began
        cost.spent = {name: round(now - before[name], 2) for name, now in spent().items()}

    return meter


if __name__ == "__main__":
    for name, value in figures().items():
        print(f"{name:18} {value:.3g} {FIGURES[name][0]}")
