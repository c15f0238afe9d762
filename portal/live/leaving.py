"""What a web process does for its pages when it is told to end."""

import time
from threading import Thread
from typing import Any

from portal.live.hub import Hub
from portal.live.page import RESTART

LOOK_SECONDS = 0.2
SHARE = 0.7  # of the time that a process has to end in


def watch(worker: Any, hub: Hub) -> None:
    """Send the pages of a gunicorn worker elsewhere as soon as it is told to end."""
    Thread(target=_wait, args=(worker, hub), daemon=True, name="leaving").start()


def _wait(worker: Any, hub: Hub) -> None:
    while worker.alive:
        time.sleep(LOOK_SECONDS)
    hub.close_all(RESTART, within=SHARE * worker.cfg.graceful_timeout)
