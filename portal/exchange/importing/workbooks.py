"""Workbooks of Excel and OpenDocument: each sheet is read like a CSV file of its name.

A process of its own reads it: see workbook_sheets.py.
"""

import json
import logging
import os
import subprocess
import sys
from pathlib import Path, PurePath
from tempfile import TemporaryDirectory
from typing import NamedTuple

from portal.core.i18n import _k
from portal.exchange.importing import workbook_sheets
from portal.exchange.importing.failures import ImportFailedError
from portal.exchange.importing.workbook_sheets import UNREADABLE

log = logging.getLogger(__name__)

SUFFIXES = {".xlsx", ".ods"}
SECONDS = 120.0


def is_workbook(name: str) -> bool:
    """Return whether a file's name is that of a workbook."""
    return PurePath(name).suffix.lower() in SUFFIXES


class Sheet(NamedTuple):
    """A sheet as a CSV file: its name as such a file, its name for people, and its content."""

    file: str
    shown: str
    content: bytes


def read_sheets(name: str, content: bytes) -> list[Sheet]:
    """Return the visible sheets of a workbook. Raise ImportFailedError.

    The only sheet of a workbook has the workbook's name, several have their own: `sections.csv`.
    """
    with TemporaryDirectory(prefix="fairseat-workbook-") as folder:
        file = Path(folder) / "workbook"
        file.write_bytes(content)
        command = [sys.executable, "-m", workbook_sheets.__name__, str(file), folder]
        try:
            done = subprocess.run(  # noqa: S603  our own module
                command, capture_output=True, timeout=SECONDS, check=False, env={"PATH": os.defpath}
            )
        except subprocess.TimeoutExpired:
            raise _too_large(name) from None
        if done.returncode == UNREADABLE:
            text = _k("%(file)s is not a readable workbook. Save it again, or as CSV.")
            raise ImportFailedError(text, file=name)
        if done.returncode:  # also if a limit ended it
            log.warning("A workbook was not read: %s", done.stderr[-500:].decode(errors="replace"))
            raise _too_large(name)
        sheets = json.loads(done.stdout)
        tables = [(Path(folder) / f"{at}.csv").read_bytes() for at in range(len(sheets))]
    alone = len(sheets) == 1
    shown = [name] if alone else [f"{name} ({each})" for each in sheets]
    names = [PurePath(name).stem] if alone else sheets
    names = ["_".join(each.lower().split()) + ".csv" for each in names]
    if len(set(names)) < len(names):
        raise ImportFailedError(_k("%(file)s has two sheets of the same name."), file=name)
    return [Sheet(*each) for each in zip(names, shown, tables, strict=True)]


def _too_large(name: str) -> ImportFailedError:
    text = _k("%(file)s is too large for a workbook. Save its sheets as CSV.")
    return ImportFailedError(text, file=name)
