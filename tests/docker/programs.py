"""What stands before web nodes, for the tests: the machine's own or Debian's packages."""

import os
import shutil
import subprocess

NAMES = ("nginx", "haproxy")
PLACES = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"


def find(name: str) -> str | None:
    """Where a program is, or None."""
    return shutil.which(name, path=PLACES)


def install() -> None:
    """Fetch what is missing; ends with a clear error where it can't be had."""
    if missing := _missing():
        _from_debian(missing)
    if missing := _missing():
        raise SystemExit(
            f"The tests need {' and '.join(missing)}, and could not install them."
            f" On Debian: apt-get install --no-install-recommends {' '.join(missing)}"
        )


def _missing() -> list[str]:
    return [name for name in NAMES if not find(name)]


def _from_debian(names: list[str]) -> None:
    root = [] if os.geteuid() == 0 else ["sudo", "-n"]
    if not shutil.which("apt-get") or (root and not shutil.which("sudo")):
        return
    print(f"Installing the packages {' and '.join(names)}.")
    # Not to be started: only its own tests start one, where they like.
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive", "RUNLEVEL": "1"}
    for command in (["update", "-qq"], ["install", "-y", "-qq", "--no-install-recommends", *names]):
        subprocess.run(
            [*root, "apt-get", *command],
            check=False,
            env=environment,
            stdout=subprocess.DEVNULL,
        )


if __name__ == "__main__":
    install()
