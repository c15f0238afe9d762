"""The fork server: imports the portal once, then forks a `fairseat` process for each request.

It imports modules only. It has no connection, thread or lock that a process could inherit: each
process makes its own after the fork. Requests come through the socket that its argument names.
"""

import gc
import json
import os
import signal
import socket
import sys
import time
from importlib import import_module
from shutil import rmtree
from tempfile import mkdtemp

from portal.runtime.child_process import PR_SET_PDEATHSIG, prctl
from portal.runtime.cli import main as fairseat

PR_SET_NAME = 15
LONGEST_REQUEST = 1 << 20  # bytes
READY = b"ready"


def import_portal() -> None:
    """Import what workers, the scheduler and `fairseat prepare` need."""
    # Metrics must know now that processes count in files, but those of this process are of no use.
    folder = os.environ["PROMETHEUS_MULTIPROC_DIR"] = mkdtemp(prefix="fairseat-metrics-")
    gc.disable()  # until all is imported: it would find nothing
    from sqlalchemy.orm import configure_mappers  # noqa: PLC0415

    from portal.core.queue import QUEUES  # noqa: PLC0415

    import_module("portal.runtime.commands.processes")
    for queue in QUEUES:
        import_module(f"jobs.{queue}")
    configure_mappers()
    rmtree(folder)
    gc.collect()
    gc.freeze()  # shared memory stays shared
    gc.enable()


def serve(line: socket.socket) -> None:
    """Fork a process for each request, until the supervisor closes the line."""
    supervisor = os.getppid()
    line.send(READY)
    while True:
        request, files, _, _ = socket.recv_fds(line, LONGEST_REQUEST, 2)
        if not request:
            return
        try:
            middle = os.fork()
        except OSError:
            line.send(b"0")
        else:
            if not middle:
                _leave_to(supervisor, line)
                _become(line, files, **json.loads(request))
                return
            os.waitpid(middle, 0)
        for file in files:
            os.close(file)


def _leave_to(supervisor: int, line: socket.socket) -> None:
    """Fork a process that is a child of the supervisor, as this one exits; return in that one."""
    middle = os.getpid()
    try:
        if os.fork():
            os._exit(0)
    except OSError:
        line.send(b"0")
        os._exit(1)
    while os.getppid() == middle:
        time.sleep(0.001)
    if setting := prctl():
        setting(PR_SET_PDEATHSIG, int(signal.SIGTERM))
    if os.getppid() != supervisor:  # it died before the line above
        os._exit(1)


def _become(
    line: socket.socket, files: list[int], arguments: list[str], name: str, env: dict[str, str]
) -> None:
    """Be the command, in a session of its own, which the supervisor may kill as a whole."""
    os.setsid()
    for number, file in enumerate(files, start=1):
        os.dup2(file, number)
        os.close(file)
    os.environ.clear()
    os.environ.update(env)
    if setting := prctl():
        setting(PR_SET_NAME, name.encode())  # as `ps -o comm` and `top` show it
    sys.argv = ["fairseat", *arguments]
    line.send(str(os.getpid()).encode())
    line.close()
    fairseat(prog_name="fairseat")


if __name__ == "__main__":
    with socket.socket(fileno=int(sys.argv[1])) as _line:
        import_portal()
        serve(_line)
