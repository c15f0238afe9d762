"""The Chromium of the browser tests: the machine's own, Debian's package or Playwright's."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

# This list replaces Playwright's, so it repeats Playwright's entries. The last two are added: with
# them, a full browser loads hidden pages in every window, at twice the cost of the portal's page.
WITHOUT = (
    "AimEnabled",
    "AvoidCorsURLLoaderRestartOnRedirect",
    "AvoidUnnecessaryBeforeUnloadCheckSync",
    "DestroyProfileOnBrowserClose",
    "HttpsFirstBalancedModeAutoEnable",
    "HttpsUpgrades",
    "LensOverlay",
    "MediaRouter",
    "NetworkTimeServiceQuerying",
    "OptimizationHints",
    "PaintHolding",
    "PreconnectToSearch",
    "ThirdPartyStoragePartitioning",
    "WebUIOmniboxAimPopup",
    "WebUIOmniboxPopup",
)
ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--in-process-gpu",  # no separate process to draw frames that are not shown
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    f"--disable-features={','.join(WITHOUT)}",
)
# The first has the same engine as the others but draws no window around a page. The same stories
# take a quarter less processor time.
NAMES = (
    "chromium-headless-shell",
    "chromium",
    "google-chrome",
    "google-chrome-stable",
    "chromium-browser",
)


def find() -> str | None:
    """Return the path of a browser that starts, or None."""
    candidates = [os.environ.get("FAIRSEAT_BROWSER"), *map(shutil.which, NAMES)]
    return next((path for path in candidates if path and _runs(path)), None) or _own()


def install() -> str:
    """Return the path of a browser; install one if there is none. Raises SystemExit."""
    return find() or _from_debian() or _from_playwright()


def _own() -> str | None:
    """Return the path of the browser that Playwright installed earlier, or None."""
    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if Path(path).exists() and _runs(path) else None


def _from_debian() -> str | None:
    root = [] if os.geteuid() == 0 else ["sudo", "-n"]
    if not shutil.which("apt-get") or (root and not shutil.which("sudo")):
        return None
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (["update", "-qq"], *(["install", "-y", "-qq", name] for name in NAMES[:2])):
        subprocess.run(
            [*root, "apt-get", *command],
            check=False,
            env=environment,
            stdout=subprocess.DEVNULL,
        )
        if found := find():
            print(f"Installed the package {Path(found).name}.")
            return found
    return None


def _from_playwright() -> str:
    print("Fetching Playwright's own Chromium.")
    subprocess.run([sys.executable, "-m", "playwright", "install", "chromium"], check=False)
    found = find()
    if not found:
        raise SystemExit(
            "The browser tests need a Chromium, and none could be installed. Install one"
            " (on Debian: apt-get install chromium) or name one in FAIRSEAT_BROWSER."
        )
    return found


def _runs(path: str) -> bool:
    """Return whether it starts: some systems have a stub of that name, or lack its libraries."""
    try:
        asked = subprocess.run([path, "--version"], check=False, capture_output=True, timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return asked.returncode == 0


if __name__ == "__main__":
    print(f"The browser tests use {install()}.")
