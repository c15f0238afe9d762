"""Live updates to ten thousand open pages, compared with a bare loop over as many sockets.

The bare loop uses flask-sock. Both sides run under the same gunicorn settings, keep all their
sockets open at once, and send the same text in turns. The rate is that of a burst after a pause,
from the first frame that arrives to the last. The time before the first frame, in which the portal
collects and renders the updates, is part of `push_p99_s`. One thread on the same machine serves
all pages: it only receives during a burst and parses afterwards. Its load is a figure of its own.
Each page belongs to a different student. A hundred other pages are opened before memory is
measured, so that what a process needs only once does not count.
"""

import random
import resource
import statistics
import time
from collections.abc import Callable
from contextlib import ExitStack
from itertools import product
from typing import Any, NamedTuple

from bench import portal_on_trial, stage
from bench.baselines.bare_sock import CHANNEL
from bench.sizes import family, private
from bench.sockets import Pages
from portal.app import create_app
from portal.backend import backend
from portal.core.settings import Settings
from portal.live.hub import LONGEST_SECONDS
from portal.runtime.child_process import Child
from portal.runtime.data_folder import DataFolder
from tests.recorder.rush import Rush, claim

WARMING, PAGES, QUICK_PAGES = 100, 10_000, 100
SHOWN = 20  # sections on a page
CLAIMANTS = 5  # students who claim seats in all of them and have no open page
BURSTS, PUSHES, QUICK_BURSTS, QUICK_PUSHES = 8, 30, 1, 2
REST = LONGEST_SECONDS + 0.3  # seconds until the next counts are sent, for any number of pages
TIMEOUT = 120.0  # seconds
SPARE = 700  # file descriptors for anything but sockets
FIGURES = {
    "fanout_per_s": ("1/s", "frames a second to 10,000 pages, in a burst after a pause"),
    "fanout_bare_per_s": ("1/s", "the same frames a second in a bare loop over as many sockets"),
    "fanout_vs_bare": ("ratio", "frames a second to pages over those of the bare loop"),
    "fanout_generator": ("cores", "load of the receiver on the same machine meanwhile"),
    "fanout_bare_generator": ("cores", "the same for the bare loop"),
    "socket_page_kb": ("KB", "memory of the web processes for the idle page of one student"),
    "socket_bare_kb": ("KB", "the same for a bare idle socket"),
    "socket_kb": ("ratio", "memory for an idle page over that for a bare socket"),
    "push_p99_s": (
        "s",
        f"from a claim until the last page shows it, at random times, the slowest of {PUSHES}",
    ),
}


class Burst(NamedTuple):
    """Seconds to the last frame, from the message and from the first frame, and of the receiver."""

    since_news: float
    since_first: float
    receiving: float


def figures(_: int = 0, *, quick: bool = False) -> dict[str, float]:
    """Return the figures above."""
    many = QUICK_PAGES if quick else _as_many_as_may_be()
    bursts, pushes = (QUICK_BURSTS, QUICK_PUSHES) if quick else (BURSTS, PUSHES)
    with ExitStack() as stack:
        folder = stage.servers(stack, quick=quick)
        app = create_app(Settings.read())
        students = CLAIMANTS + WARMING + many
        term = stack.enter_context(portal_on_trial.a_rush(students, SHOWN, seats=10_000))
        rush = portal_on_trial.rush_of(term, CLAIMANTS)
        cookies = portal_on_trial.cookies(app, range(CLAIMANTS, students))
        wish = {"term": rush.term, "sections": list(rush.sections)}
        pages, size = opened(stack, folder, "wsgi:app", cookies, wish)
        sockets, bare_size = opened(stack, folder, "bench.baselines.bare_sock:app", cookies, {})
        change, repeat = claims(rush), lambda: backend().redis.publish(CHANNEL, pages.text)
        ours, bare = [], []
        for _ in range(bursts):
            ours.append(measure_burst(pages, change, after=REST))
            bare.append(measure_burst(sockets, repeat))
        measure_burst(
            pages, change, after=REST
        )  # so that each of the following comes after another
        waits = [
            measure_burst(pages, change, random.uniform(0, REST)).since_news for _ in range(pushes)
        ]
    rate, bare_rate = per_second(pages, ours), per_second(sockets, bare)
    return {
        "fanout_per_s": rate,
        "fanout_bare_per_s": bare_rate,
        "fanout_vs_bare": rate / bare_rate,
        "fanout_generator": cores(ours),
        "fanout_bare_generator": cores(bare),
        "socket_page_kb": size,
        "socket_bare_kb": bare_size,
        "socket_kb": size / bare_size,
        "push_p99_s": max(waits),
    }


def opened(
    stack: ExitStack, folder: DataFolder, app: str, cookies: list[str], wish: dict[str, Any]
) -> tuple[Pages, float]:
    """Open a page per cookie on a new server; return the pages and KB of its memory for each.

    The first WARMING pages are not measured, because they include what a process needs once.
    """
    port = stage.free_port()
    server = stage.started(stack, stage.web(folder, app.split(":", maxsplit=1)[0], port, app))
    pages = Pages(port)
    stage.patiently(server, lambda: pages.open(cookies[:WARMING], wish), TIMEOUT)
    time.sleep(REST)  # until the work that a process does only once is over
    before = _memory(server)
    pages.open(cookies[WARMING:], wish)
    if wish:
        until(lambda: pages.shown == len(cookies))  # until each has shown all of its counts
    stack.callback(pages.close)
    return pages, (_memory(server) - before) / (len(cookies) - WARMING)


def measure_burst(pages: Pages, tell: Callable[[], object], after: float = 0.0) -> Burst:
    """Send a message `after` some seconds, and return how long it takes to reach all pages."""
    time.sleep(after)
    with pages.burst():
        began = time.monotonic()
        tell()
        spent = time.process_time()
        until(lambda: pages.arrived == pages.count)
        receiving = time.process_time() - spent
    until(lambda: pages.shown == pages.count)
    return Burst(pages.shown_at - began, pages.shown_at - pages.first_at, receiving)


def per_second(pages: Pages, bursts: list[Burst]) -> float:
    """Return the median of frames a second."""
    return pages.count / statistics.median(each.since_first for each in bursts)


def cores(bursts: list[Burst]) -> float:
    """Return the median load of the receiver, in cores."""
    return statistics.median(each.receiving / each.since_first for each in bursts)


def until(true: Callable[[], bool]) -> None:
    """Wait until a condition is true; raise SystemExit after TIMEOUT seconds."""
    deadline = time.monotonic() + TIMEOUT
    while not true():
        if time.monotonic() > deadline:
            raise SystemExit("Some pages got no update.")
        time.sleep(0.005)


def claims(rush: Rush) -> Callable[[], object]:
    """Return a function that claims another seat, in a section that all pages show, each time."""
    seats = product(rush.students, rush.sections)
    return lambda: claim(rush, *next(seats))


def _memory(server: Child) -> float:
    """Return the memory (KB) of a server's processes that no other process shares."""
    return sum(map(private, family(server))) * 1024


def _as_many_as_may_be() -> int:
    """Return the number of pages: PAGES, or fewer if the limit of open files is low.

    Raise the soft limit, because both sides' sockets are open at once.
    """
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = min(2 * PAGES + SPARE, most) if most != resource.RLIM_INFINITY else 2 * PAGES + SPARE
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))
    return (wanted - SPARE) // 2
