"""The scripts with which outsiders check a round or a draw: alone, as they do, or in this process.

A script that runs alone needs a new Python process. A call of its `main` proves as much, except
about its exit status and its imports.
"""

import json
import subprocess
import sys
import traceback
import warnings
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from types import ModuleType
from typing import Any

Done = subprocess.CompletedProcess[str]


def alone(script: ModuleType, told: Any, folder: Path, *arguments: str) -> Done:
    """Run a copy of the script on a file, with the standard library alone."""
    source = Path(str(script.__file__))
    copy, path = folder / source.name, folder / "told.json"
    copy.write_text(source.read_text())
    path.write_text(json.dumps(told))
    command = [sys.executable, "-I", str(copy), str(path), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)


def here(script: ModuleType, told: Any, folder: Path, *arguments: str) -> Done:
    """Run the script on a file in this process; an error ends it as it would end Python."""
    path = folder / "told.json"
    path.write_text(json.dumps(told))
    status, error = 1, ""
    with redirect_stdout(StringIO()) as said, warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # its file is closed at its end
        try:
            status = script.main(str(path), *arguments)
        except Exception:  # noqa: BLE001  whatever it is
            error = traceback.format_exc()
    return Done([], status, said.getvalue(), error)
