"""The `fairseat` command with every module that commands and jobs import: see tests/commands.py."""

import sys
from collections.abc import Sequence
from importlib import import_module

from sqlalchemy.orm import configure_mappers

from portal.core.queue import QUEUES
from portal.runtime.cli import MODULES
from portal.runtime.cli import main as fairseat

for _name in sorted(set(MODULES.values())):
    import_module(f"portal.runtime.commands.{_name}")
for _queue in QUEUES:
    import_module(f"jobs.{_queue}")
configure_mappers()


def main(arguments: Sequence[str]) -> None:
    """Be the command."""
    sys.argv = ["fairseat", *arguments]
    fairseat()
