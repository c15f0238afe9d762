"""`fairseat` commands in processes of their own, which start in a few milliseconds.

Each is forked from a process that has imported the commands and their jobs already. A test of the
start itself, or of what a process imports, must start Python instead.
"""

import subprocess
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from portal.runtime.child_process import Child
from tests.forked import Forked, ForkedChild, Template

TEMPLATE = Template("tests.preloaded_commands")


def start(*arguments: str, env: Mapping[str, str] | None = None) -> Forked:
    """Start `fairseat` with these arguments in this environment (by default that of the test)."""
    return TEMPLATE.fork(arguments, env)


def run(
    *arguments: str, env: Mapping[str, str] | None = None, template: Template = TEMPLATE
) -> subprocess.CompletedProcess[str]:
    """Run `fairseat` to its end, and return its status and what it wrote."""
    with TemporaryDirectory() as folder:
        files = [Path(folder) / name for name in ("out", "err")]
        status = template.fork(arguments, env, *files).wait()
        out, err = (file.read_text() for file in files)
    return subprocess.CompletedProcess(arguments, status, out, err)


def child(name: str, *arguments: str, log: Path, env: Mapping[str, str] | None = None) -> Child:
    """Return `fairseat` with these arguments as a child process, with a log of its own."""
    return ForkedChild(name, arguments, log, env or {}, template=TEMPLATE)
