"""Find a Chromium for the tests, or install one; print where it is. Run as ``python -m stages.browser``.

In this order: the one that ``CHROMIUM`` names; Playwright's own, if it is there; the machine's;
Playwright's own, installed now; Debian's, installed now where we may.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from stages.prerequisites import Missing

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
ALONE = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
"""Flags with which a Chromium of tests and benches does nothing of its own accord."""
PATIENCE = 300
"""Seconds that an installation may take: some networks only swallow what is asked."""


def find() -> str | None:
    """Return the path of a Chromium of this machine, or None. Raises Missing for a wrong ``CHROMIUM``."""
    named = os.environ.get("CHROMIUM")
    if named:
        if shutil.which(named) is None:
            raise Missing(f"CHROMIUM is {named!r}, which is no program.")
        return named
    return of_playwright() or next((path for name in NAMES if (path := shutil.which(name))), None)


def of_playwright() -> str | None:
    """Return Playwright's own Chromium, if it is installed."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if Path(path).is_file() else None


def install() -> str:
    """Install a Chromium and return its path. Raises Missing when there is no way to one."""
    if _runs([sys.executable, "-m", "playwright", "install", "chromium"]):
        own = of_playwright()
        if own and _runs([own, "--headless", "--no-sandbox", "--version"]):
            return own
    root = [] if hasattr(os, "geteuid") and os.geteuid() == 0 else ["sudo", "-n"]
    if shutil.which("apt-get") and (not root or shutil.which("sudo")):
        _runs([*root, "apt-get", "update", "-qq"])
        _runs([*root, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "install", "-y", "-qq", "chromium"])
    found = find()
    if found is None:
        raise Missing(
            "no Chromium was found, and none could be installed: install chromium or Google Chrome, "
            "or name one with CHROMIUM=/path/to/chromium."
        )
    return found


def _runs(command: list[str]) -> bool:
    """Run a command quietly; tell whether it went well."""
    try:
        quiet = subprocess.DEVNULL
        done = subprocess.run(command, stdin=quiet, stdout=quiet, stderr=quiet, timeout=PATIENCE, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def main() -> int:
    """Print the path of a Chromium, installing one if need be; return the exit code."""
    try:
        print(find() or install())
    except Missing as error:
        print(f"stages.browser: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
