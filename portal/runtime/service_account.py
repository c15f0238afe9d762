"""The account that runs PostgreSQL when root starts it: a number that nothing else uses.

PostgreSQL refuses root. The account gets no capability. It owns its data folder and the folder of
its socket, and can enter nothing else of ours. It may lack access to a folder above them, such as
/root. So the data folder is opened here and reached as an open file, and programs that it cannot
reach are copied to where it can.
"""

import contextlib
import grp
import os
import pwd
import secrets
import shutil
import stat
from collections.abc import Sequence
from pathlib import Path

from portal.runtime.data_folder import StartupError

# Debian and systemd leave these numbers free. Skip a number that /etc/passwd names or a running
# process uses.
NUMBERS = range(60_578, 61_184)
NEEDED = ("bin/postgres", "bin/initdb", "lib", "share")  # the installed files that a server needs
NO_SETPRIV = (
    "PostgreSQL does not run as root, and setpriv (Debian package util-linux) is missing to start"
    " it as another account. Install it, run as an ordinary user or set DATABASE_URL."
)
OF_ROOT = (
    "PostgreSQL does not run as root, but root owns {}. Give the folder and all that is in it to"
    " an unused account, for example: chown -R {number}:{number} {}"
)


def needed() -> bool:
    """Return whether root runs this, so that PostgreSQL needs another account."""
    return os.geteuid() == 0


def unused() -> int:
    """Return a number that is neither a user, nor a group, nor of a running process."""
    running = _running()
    free = [each for each in NUMBERS if each not in running and not _named(each)]
    if not free:
        raise StartupError(f"All accounts from {NUMBERS[0]} to {NUMBERS[-1]} are in use.")
    return secrets.choice(free)


def of(folder: Path) -> tuple[int, int]:
    """Return the account and group that own `folder`; raise StartupError if it is root."""
    found = folder.stat()
    if found.st_uid == 0:
        raise StartupError(OF_ROOT.format(folder, folder, number=unused()))
    return found.st_uid, found.st_gid


def with_name() -> int:
    """Return an account with a name, which initdb requires.

    Run it in a group that nothing else uses: then no other process of the account can read its
    data.
    """
    try:
        return pwd.getpwnam("nobody").pw_uid
    except KeyError:
        pass
    for each in pwd.getpwall():
        if each.pw_uid:
            return each.pw_uid
    raise StartupError("PostgreSQL does not run as root, and no other account has a name.")


def give(folder: Path, number: int, group: int) -> None:
    """Make an account and a group own a folder and its content."""
    try:
        os.chown(folder, number, group)
        for parent, folders, files in os.walk(folder):
            for name in (*folders, *files):
                os.lchown(Path(parent, name), number, group)
    except OSError as error:
        raise StartupError(
            f"PostgreSQL does not run as root, and {folder} can't be given to another account"
            f" ({error.strerror}). Run as an ordinary user or set DATABASE_URL."
        ) from error


def command(number: int, group: int, program: Sequence[str]) -> Sequence[str]:
    """Return a command that runs `program` as that account, permanently without capabilities."""
    setpriv = shutil.which("setpriv")
    if setpriv is None:
        raise StartupError(NO_SETPRIV)
    return [
        setpriv,
        f"--reuid={number}",
        f"--regid={group}",
        "--clear-groups",
        "--inh-caps=-all",
        "--ambient-caps=-all",
        "--bounding-set=-all",
        "--no-new-privs",
        "--pdeathsig=INT",  # the change of account has cleared it
        "--",
        *program,
    ]


def admit(folder: Path, group: int) -> None:
    """Let only that group pass through one of root's folders."""
    os.chown(folder, 0, group)
    folder.chmod(0o710)


def reachable(install: Path, below: Path) -> Path:
    """Return `install`, or a copy of it in the new folder `below` that others cannot enter."""
    install = install.resolve()
    program = install / "bin" / "postgres"
    if _open_to_all(program, stat.S_IROTH | stat.S_IXOTH):
        return install
    package, copy = install.parent, below / install.parent.name
    for name in NEEDED:
        _copy(install / name, copy / install.name / name)
    libraries = f"{package.name}.libs"  # beside it, as in wheels
    if package.with_name(libraries).exists():
        _copy(package.with_name(libraries), below / libraries)
    for each in (below, *below.rglob("*")):
        each.chmod(0o755 if each.is_dir() or each.parent.name == "bin" else 0o644)
    return copy / install.name


def passable(folder: Path) -> bool:
    """Return whether every account may enter `folder` and all folders above it."""
    return _open_to_all(folder, stat.S_IXOTH)


def _copy(given: Path, copy: Path) -> None:
    copy.parent.mkdir(parents=True, exist_ok=True)
    if given.is_dir():
        shutil.copytree(given, copy)
    else:
        shutil.copy(given, copy)


def _open_to_all(path: Path, bits: int) -> bool:
    if path.stat().st_mode & bits != bits:
        return False
    return all(each.stat().st_mode & stat.S_IXOTH for each in path.resolve().parents)


def _running() -> set[int]:
    """Return the real, effective, saved and file system accounts of all processes."""
    found: set[int] = set()
    for status in Path("/proc").glob("[0-9]*/status"):
        with contextlib.suppress(OSError):  # it has exited
            lines = status.read_text(errors="replace").splitlines()
            numbers = next(line for line in lines if line.startswith("Uid:")).split()[1:]
            found.update(map(int, numbers))
    return found


def _named(number: int) -> bool:
    for ask in (pwd.getpwuid, grp.getgrgid):
        with contextlib.suppress(KeyError):
            ask(number)
            return True
    return False
