"""A worker ends when it is told to, whatever it does at that moment."""

import subprocess
import sys

import pytest

from portal.backend import Backend
from portal.operations import workers
from portal.runtime import embedded_valkey
from portal.runtime.embedded_servers import Servers
from tests.operations.test_health import without
from tests.recorder.processes import ready

# The signal comes while a log handler writes that the ledger is gone: handlers catch exceptions.
# RQ writes that, or the worker itself: it depends on what the worker did when the ledger went.
SCRIPT = """
import logging, os, signal, threading
from portal.backend import connect
from portal.core.settings import Settings
from portal.core.worker import work

class Told(logging.Formatter):
    told = False

    def format(self, record):
        if threading.current_thread() is threading.main_thread() and not Told.told:
            Told.told = True
            os.kill(os.getpid(), signal.SIGTERM)
        return super().format(record)

handler = logging.StreamHandler()
handler.setFormatter(Told())
for name in ("rq.worker", "portal"):
    logging.getLogger(name).addHandler(handler)
settings = Settings.read()
connect(settings)
work("notify", settings.redis_url)
"""

# The signal comes when the worker has registered.
AT_ITS_START = """
import os, signal
from portal.backend import connect
from portal.core.settings import Settings
from portal.core.worker import Worker, work

Worker.subscribe = lambda worker: os.kill(os.getpid(), signal.SIGTERM)
settings = Settings.read()
connect(settings)
work("notify", settings.redis_url)
"""


@pytest.mark.usefixtures("backend")
def test_a_signal_that_comes_while_a_log_line_is_written_is_not_lost(servers: Servers) -> None:
    worker = subprocess.Popen([sys.executable, "-c", SCRIPT], stderr=subprocess.PIPE, text=True)
    try:
        ready("notify")
        with without(servers, "valkey", embedded_valkey.answers):
            _, said = worker.communicate(timeout=100)
    finally:
        worker.kill()
        worker.wait()
    assert "StopRequested" in said  # the exception was lost


def test_a_worker_that_ends_while_it_starts_leaves_the_list(backend: Backend) -> None:
    subprocess.run([sys.executable, "-c", AT_ITS_START], check=True, timeout=100)
    assert not workers.workers(backend.redis)
