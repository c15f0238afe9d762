"""All that commands and jobs import: tests/commands.py forks processes that have it already."""

from importlib import import_module

from sqlalchemy.orm import configure_mappers

from portal.core.queue import QUEUES
from portal.runtime.cli import MODULES

for _name in sorted(set(MODULES.values())):
    import_module(f"portal.runtime.commands.{_name}")
for _queue in QUEUES:
    import_module(f"jobs.{_queue}")
import_module("tests.commands")
configure_mappers()
