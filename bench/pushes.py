"""News to ten thousand open pages, beside a bare loop over as many sockets of flask-sock.

Both under the same gunicorn settings and with all their sockets open at once, told by turns of the
same text; the pages are read by one thread on the same machine.
"""

import random
import resource
import statistics
import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from bench import portal_on_trial, stage
from bench.baselines.bare_sock import CHANNEL
from bench.sizes import family, private
from bench.sockets import Pages
from portal import create_app
from portal.backend import backend
from portal.config import Settings
from portal.live.hub import COALESCE_SECONDS, LONGEST_SECONDS
from portal.running.children import Child
from tests.record.rush import Rush, a_rush, claim

PORT, BARE_PORT = 8796, 8797
PAGES, QUICK_PAGES = 10_000, 300
EACH = 10  # pages of one student
SHOWN = 20  # sections on a page
ROUNDS, QUICK_ROUNDS = 8, 1
REST = LONGEST_SECONDS + 0.3  # seconds until counts are due again, however many pages there are
PATIENCE = 120.0  # seconds
SPARE = 500  # files that are something else
FIGURES = {
    "fanout_per_s": ("1/s", "frames delivered to 10,000 pages once a count has changed"),
    "fanout_bare_per_s": ("1/s", "the same frames in a bare loop over as many sockets"),
    "fanout_vs_bare": ("ratio", "the one over the other"),
    "socket_page_kb": ("KB", "memory of the web processes for an idle page"),
    "socket_bare_kb": ("KB", "the same for a bare idle socket"),
    "socket_kb": ("ratio", "the one over the other"),
    "push_p99_s": ("s", "from a claim at any moment to the last of 10,000 pages, the slowest of 8"),
}


def figures(_: int = 0, *, quick: bool = False) -> dict[str, float]:
    """The figures above."""
    many, rounds = (QUICK_PAGES, QUICK_ROUNDS) if quick else (_as_many_as_may_be(), ROUNDS)
    with ExitStack() as stack:
        folder = stage.servers(stack)
        app = create_app(Settings.read())
        rush = a_rush(SHOWN, many // EACH + 1, capacity=10_000)
        cookies = portal_on_trial.cookies(app, "rush", many // EACH) * EACH
        wish = {"term": rush.term, "sections": list(rush.sections)}
        web = stage.web(folder, "web", PORT, "wsgi:app")
        bare = stage.web(folder, "bare", BARE_PORT, "bench.baselines.bare_sock:app")
        pages, size = opened(stack, web, PORT, cookies, wish)
        sockets, bare_size = opened(stack, bare, BARE_PORT, cookies, {})
        change, repeat = claims(rush), lambda: backend().redis.publish(CHANNEL, pages.text)
        took, bare_took, pushes = [], [], []
        for _ in range(rounds):
            took.append(told(pages, change, after=REST) - COALESCE_SECONDS)
            bare_took.append(told(sockets, repeat))
            pushes.append(told(pages, change, after=random.uniform(0, REST)))
    rate, bare_rate = (many / statistics.median(each) for each in (took, bare_took))
    return {
        "fanout_per_s": rate,
        "fanout_bare_per_s": bare_rate,
        "fanout_vs_bare": rate / bare_rate,
        "socket_page_kb": size,
        "socket_bare_kb": bare_size,
        "socket_kb": size / bare_size,
        "push_p99_s": max(pushes),
    }


def opened(
    stack: ExitStack, server: Child, port: int, cookies: list[str], wish: dict[str, Any]
) -> tuple[Pages, float]:
    """So many open pages of a server, and KB of its memory that each takes.

    Of each student the first page is not measured: it brings what a process knows of its owner.
    """
    first = len(cookies) // EACH
    stage.started(stack, server)
    pages = Pages(port)
    stage.patiently(lambda: pages.open(cookies[:first], wish), PATIENCE)
    time.sleep(REST)  # until the first of everything has been done
    before = _memory(server)
    pages.open(cookies[first:], wish)
    if wish:
        until(lambda: pages.shown == len(cookies))  # each has been shown all of its counts
    stack.callback(pages.close)
    return pages, (_memory(server) - before) / (len(cookies) - first)


def told(pages: Pages, tell: Callable[[], object], after: float = 0.0) -> float:
    """Seconds from such news to the last of the pages."""
    time.sleep(after)
    pages.shown, began = 0, time.monotonic()
    tell()
    until(lambda: pages.shown == pages.count)
    return pages.shown_at - began


def until(true: Callable[[], bool]) -> None:
    """Wait for it; stops where it does not come to be."""
    deadline = time.monotonic() + PATIENCE
    while not true():
        if time.monotonic() > deadline:
            raise SystemExit("Not every page was told.")
        time.sleep(0.005)


def claims(rush: Rush) -> Callable[[], object]:
    """What claims a seat that all pages show, each time in another section."""
    sections = iter(rush.sections)
    return lambda: claim(rush, rush.students[0], next(sections))  # who has no page here


def _memory(server: Child) -> float:
    """KB of all its processes that no other shares."""
    return sum(map(private, family(server))) * 1024


def _as_many_as_may_be() -> int:
    """Ten thousand, unless the system lets a process open fewer than two times as many."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = min(2 * PAGES + SPARE, most) if most != resource.RLIM_INFINITY else 2 * PAGES + SPARE
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))
    return (wanted - SPARE) // 2 // EACH * EACH
