"""`make measure PART=caches`: compare the portal with a part switched on and off.

The benchmark switches the part by its feature flag in turns while the portal runs, as an admin
would. Nothing else changes. It prints the median and the spread of both, and their ratio.
"""

import argparse
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from itertools import count
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT)]

from rq import Queue  # noqa: E402
from rq.serializers import JSONSerializer  # noqa: E402

from bench import load, portal_on_trial  # noqa: E402
from bench.meter import seconds  # noqa: E402
from bench.portal_on_trial import get  # noqa: E402
from bench.site import Site  # noqa: E402
from bench.stage import cli  # noqa: E402
from portal.backend import backend  # noqa: E402
from portal.core import flags  # noqa: E402
from portal.core.breakers import Breaker, BreakerOpen  # noqa: E402
from portal.core.db import transaction  # noqa: E402
from portal.core.flags import Flag, Switching  # noqa: E402
from portal.runtime.child_process import Child, SupervisedChild  # noqa: E402
from portal.runtime.worker_pools import WorkerPools  # noqa: E402
from tests import cast  # noqa: E402

CONNECTIONS, STUDENTS = 32, 200
# Only the queue `notify` is scaled, even on a machine whose default would not scale it.
POOLS = "notify=1-4@20 record=1-1@99 promote=1-1@99 maintain=1-1@99 background=1-1@99"
HEARD = 2 * flags.EVERY + 0.5  # seconds until all processes have read a changed flag
JOBS, JOB = 60, 0.2  # jobs of the backlog, and seconds of each
CALLS, SILENCE = 60, 0.05  # calls to an external service that is down, and the timeout in seconds

Work = Callable[["Trial"], float]


class Trial:
    """The portal that is measured, with its own term."""

    def __init__(self, stack: ExitStack) -> None:
        os.environ.setdefault("FAIRSEAT_WORKERS", POOLS)
        self.site = Site(stack)
        self.admin = cast.an_account("measurer").id
        self.port = stack.enter_context(self.site.web())
        self.term = stack.enter_context(portal_on_trial.a_rush(STUDENTS))

    def switch(self, part: str, *, on: bool) -> None:
        """Switch the part, and wait until every process has read the flag."""
        with transaction() as session:
            flag = session.get(Flag, part)
            wanted = Switching(part, on, flag.version if flag else 0, "measured")
            flags.switch(session, wanted, self.admin)
        time.sleep(HEARD)


def claims(trial: Trial) -> float:
    """Return answered claims a second."""
    wishes = portal_on_trial.claims(trial.site.app, trial.term, STUDENTS, 3)
    return load.run(trial.port, wishes, CONNECTIONS).rate


def pages(trial: Trial) -> float:
    """Return picker pages a second."""
    cookies = portal_on_trial.cookies(trial.site.app, range(STUDENTS))
    requests = [get(f"/terms/{trial.term}", each) for each in cookies]
    return load.run(trial.port, requests, CONNECTIONS).rate


def failing(part: str) -> Work:
    """Return work that measures calls a second to an external service that is down."""

    def work(_trial: Trial) -> float:
        flags.read()
        breaker = Breaker("Measured", (TimeoutError,), part)
        return CALLS / seconds(lambda: [_call(breaker) for _ in range(CALLS)])

    return work


def backlog(trial: Trial) -> float:
    """Return jobs a second from a backlog that one worker would take long to finish."""
    queue = Queue("notify", connection=backend().redis, serializer=JSONSerializer)
    with _supervised(trial) as pools:
        for _ in range(JOBS):
            queue.enqueue("time.sleep", JOB, result_ttl=0)

        def until_done() -> None:
            while queue.count:
                pools.check()
                time.sleep(0.05)

        return JOBS / seconds(until_done)


PARTS: dict[str, Work] = {
    "waiting_room": claims,
    "captcha": claims,
    "rate_limits": claims,
    "live_push": claims,
    "bulkheads": claims,
    "caches": pages,
    "autoscaling": backlog,
    "mail_breaker": failing("mail"),
    "captcha_breaker": failing("captcha"),
    "provider_breaker": failing("provider"),
}


def main() -> None:
    """Measure the part that the command line names, and print the result."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("part", choices=PARTS, help="the part to switch on and off")
    options.add_argument("--runs", type=int, default=5, help="runs with the part on, and off")
    arguments = options.parse_args()
    found: dict[bool, list[float]] = {True: [], False: []}
    with ExitStack() as stack:
        trial = Trial(stack)
        work = PARTS[arguments.part]
        work(trial)  # warms the processes
        for number in range(2 * arguments.runs):
            on = number % 2 == 0
            trial.switch(arguments.part, on=on)
            found[on].append(work(trial))
            print(f"{arguments.part} {'on ' if on else 'off'} {found[on][-1]:8.1f}/s", flush=True)
    for on, rates in found.items():
        spread = f"{min(rates):.1f} to {max(rates):.1f}"
        print(f"{'on ' if on else 'off'} {statistics.median(rates):8.1f}/s ({spread})")
    ratio = statistics.median(found[True]) / statistics.median(found[False])
    print(f"on / off: {ratio:.2f}")


@contextmanager
def _supervised(trial: Trial) -> Iterator[WorkerPools]:
    numbers = count(1)

    def child(name: str, *arguments: str) -> Child:
        return Child(f"{name}-{next(numbers)}", cli(*arguments), trial.site.folder.log(name))

    children = [SupervisedChild(child("notify", "worker", "notify"))]
    children[0].start()
    pools = WorkerPools(children, child, lambda: backend().settings.redis_url)
    try:
        yield pools
    finally:
        for each in (*pools.leaving, *(one.child for one in children)):
            each.stop()


def _call(breaker: Breaker) -> None:
    with suppress(TimeoutError, BreakerOpen):
        breaker.call(_silence)


def _silence() -> None:
    time.sleep(SILENCE)
    raise TimeoutError


if __name__ == "__main__":
    main()
