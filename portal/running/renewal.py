"""The portal's own processes replaced, one after the other, while the others serve."""

import signal
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from portal.running.kept import Kept

STARTED = "FAIRSEAT_STARTED"  # the file that a web server makes when it serves
PREPARED = "FAIRSEAT_PREPARED"  # the file that it waits for before it serves
PATIENCE = 60.0  # seconds for a web server to start, or to end
NOTICED = 3.0  # seconds until a balancer that looks each second sends visitors to a node again
BRIEFLY = 20.0  # seconds that others wait for a worker: one with a long job ends after that
NOT_STARTED = "{} does not start, so no more are restarted. Its log is {}"


def renew(crew: Sequence[Kept], wait: Callable[[], None], tell: Callable[[str], None]) -> str:
    """Replace each of them; `wait` passes a moment in which the others are looked after.

    Where a web server does not start, the old ones go on and nothing else is touched: gives what
    to say of that, else "".
    """
    web = [kept for kept in crew if STARTED in kept.child.env]
    others = [kept for kept in crew if kept not in web and kept.child.name != "haproxy"]
    for number, kept in enumerate((*web, *others), 1):
        name = kept.child.name
        tell(f"{name} ({number} of {len(web) + len(others)})")
        if kept not in web:
            if not _renew(kept, wait):
                tell(f"  {name} has a job in hand; it is replaced when that is done.")
        elif not _renew_web(kept, wait):
            return NOT_STARTED.format(name, kept.child.log)
    return ""


def until_started(crew: Sequence[Kept], wait: Callable[[], None]) -> None:
    """Wait until each web server among them serves, but not for ever for one that can't."""
    for kept in crew:
        if STARTED in kept.child.env:
            _until(Path(kept.child.env[STARTED]).exists, wait)


def _renew_web(kept: Kept, wait: Callable[[], None]) -> bool:
    started = Path(kept.child.env[STARTED])
    started.unlink(missing_ok=True)
    if not kept.child.keep_open:  # a node with a door of its own, which only one can open
        kept.ask_to_leave()
        if not _until(started.exists, wait):
            return False
        _until(lambda: False, wait, NOTICED)
        return True
    old = kept.child.process
    try:
        kept.start()
    except OSError:  # such as a full disk: the old one serves on
        return False
    if not _until(started.exists, wait):
        kept.go_back_to(old)
        started.touch()  # the old one serves
        return False
    if old:
        old.send_signal(signal.SIGTERM)
        if not _until(lambda: old.poll() is not None, wait):
            old.kill()
    return True


def _renew(kept: Kept, wait: Callable[[], None]) -> bool:
    old = kept.child.process
    kept.ask_to_leave()
    return _until(lambda: kept.child.process is not old, wait, BRIEFLY)


def _until(holds: Callable[[], bool], wait: Callable[[], None], patience: float = PATIENCE) -> bool:
    deadline = time.monotonic() + patience
    while not holds():
        if time.monotonic() > deadline:
            return False
        wait()
    return True
