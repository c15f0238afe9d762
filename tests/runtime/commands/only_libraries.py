"""A `fairseat` command in a process that knows libraries, but nothing of the portal yet."""

import sys
from collections.abc import Sequence
from importlib import import_module

# What takes most of the time that commands need to start.
LIBRARIES = (
    *("alembic.command", "babel.dates", "cryptography.x509", "flask", "gevent", "jinja2"),
    *("joserfc.jwt", "openpyxl", "PIL.Image", "prometheus_client", "pypdf", "requests"),
    *("rich.console", "rq", "sqlalchemy.orm", "wtforms"),
)
for _name in LIBRARIES:
    import_module(_name)


def main(arguments: Sequence[str]) -> None:
    """Be the command, without the modules that tests/forked.py needed."""
    for name in [each for each in sys.modules if each.partition(".")[0] == "portal"]:
        del sys.modules[name]
    sys.argv = ["fairseat", *arguments]
    import_module("portal.runtime.cli").main()
