"""Prometheus and promtool for the tests: the machine's own, or Debian's package, unpacked."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

HOME = Path(__file__).resolve().parents[3] / ".venv" / "prometheus"
NAMES = ("prometheus", "promtool")


def find(name: str) -> str | None:
    """Where a tool is, or None."""
    unpacked = HOME / "usr" / "bin" / name
    return shutil.which(name) or (str(unpacked) if unpacked.exists() else None)


def install() -> None:
    """Fetch them where they are not; ends with a clear error where they can't be had.

    Unpacked, not installed: that would begin a service of that name.
    """
    if not all(map(find, NAMES)) and shutil.which("apt-get"):
        print("Fetching the package prometheus.")
        _unpack()
    if not all(map(find, NAMES)):
        raise SystemExit(
            "The tests of metrics need Prometheus with promtool, and neither could be fetched."
            " Install them so that they are found (on Debian: apt-get install prometheus)."
        )


def _unpack() -> None:
    HOME.mkdir(parents=True, exist_ok=True)
    if not _download():
        root = [] if os.geteuid() == 0 else ["sudo", "-n"]
        subprocess.run([*root, "apt-get", "update", "-qq"], check=False)
        _download()
    for package in HOME.glob("*.deb"):
        subprocess.run(["dpkg-deb", "-x", str(package), str(HOME)], check=False)  # noqa: S607
        package.unlink()


def _download() -> bool:
    command = ["apt-get", "download", "-qq", "prometheus"]
    return subprocess.run(command, cwd=HOME, check=False).returncode == 0


if __name__ == "__main__":
    install()
    sys.stdout.write(f"The tests of metrics use {find('prometheus')}.\n")
