"""HAProxy before several web nodes; it is the machine's own, as no wheel brings it along."""

import os
import shutil
import signal
from collections.abc import Mapping
from pathlib import Path

from portal.embedded.account import NotRunnableError
from portal.running.children import Child

MISSING = (
    "HAProxy, which stands before the web nodes of `fairseat cluster`, is not installed."
    " On Debian or Ubuntu:  sudo apt-get install --no-install-recommends haproxy"
)
PLACES = "/usr/sbin:/sbin"  # where Debian puts it, which is not on everyone's path
# A request that a node took along when it died is sent again if it only looks; who sends a form
# sees that the answer is missing, and sends it again under the same key. A node that is stopped
# waits for connections that are open, so none is left open for later. Who watches names a node:
# what the processes of another have counted must not pass for its own, even while it is away.
RULES = """\
global
    maxconn 10000
    no strict-limits
    log stdout format raw local0 notice
defaults
    mode http
    log global
    timeout connect 2s
    timeout client 60s
    timeout server 60s
    timeout tunnel 1h
    timeout http-keep-alive 15s
    retries 3
    option redispatch 1
    option forwardfor
    option http-server-close
frontend portal
    bind fd@{door}
    http-request del-header X-Forwarded-For
    http-request del-header X-Forwarded-Host
    http-request del-header X-Correlation-Id
    http-request set-header X-Forwarded-Proto http
    default_backend web
backend web
    balance leastconn
    retry-on conn-failure empty-response
    http-request disable-l7-retry unless {{ method GET HEAD }}
    option httpchk
    http-check send meth GET uri /live ver HTTP/1.1 hdr Host 127.0.0.1
    default-server check inter 1s fall 2 rise 1
    force-persist if {{ path /metrics }} {{ url_param(node) -m found }}
"""
WATCHED = "    use-server {name} if {{ path /metrics }} {{ url_param(node) {name} }}"


def program() -> str:
    """Where it is; raises NotRunnableError saying how to install it."""
    found = shutil.which("haproxy", path=f"{os.environ.get('PATH', '')}:{PLACES}")
    if not found:
        raise NotRunnableError(MISSING)
    return found


def child(folder: Path, door: int, nodes: Mapping[str, Path], log: Path) -> Child:
    """Who takes in at the open `door` and asks the web nodes, by name, at their sockets.

    A node that is down is left out; the others serve even while the ledger is away.
    """
    rules = folder / "haproxy.cfg"
    servers = [f"    server {name} unix@{socket}" for name, socket in nodes.items()]
    watched = [WATCHED.format(name=name) for name in nodes]
    rules.write_text(RULES.format(door=door) + "\n".join([*watched, *servers, ""]))
    command = [program(), "-db", "-f", str(rules)]
    return Child("haproxy", command, log, stop_signal=signal.SIGTERM, keep_open=(door,))
