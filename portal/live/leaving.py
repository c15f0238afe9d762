"""What a web process does for its pages when it is told to end."""

import time
from threading import Thread
from typing import Any

from flask import Flask

from portal.live.page import RESTART

LOOK_SECONDS = 0.2


def watch(worker: Any, app: Flask) -> None:
    """Send the pages of a gunicorn worker elsewhere as soon as it is told to end."""
    Thread(target=_wait, args=(worker, app), daemon=True, name="leaving").start()


def _wait(worker: Any, app: Flask) -> None:
    while worker.alive:
        time.sleep(LOOK_SECONDS)
    app.extensions["live"].close_all(RESTART)
