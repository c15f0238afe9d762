"""Every module of commands starts by itself, in a process that knows nothing of the portal yet."""

import pytest

from portal.runtime.cli import MODULES
from tests import commands
from tests.forked import Template

# One command of each module: most other tests fork a process that has imported them all.
ONE_EACH = {module: name for name, module in MODULES.items()}
TEMPLATE = Template("tests.runtime.commands.only_libraries")


@pytest.mark.parametrize("name", ONE_EACH.values(), ids=ONE_EACH)
def test_a_command_starts_alone(name: str) -> None:
    done = commands.run(name, "--help", template=TEMPLATE)
    assert done.returncode == 0, done.stderr
    assert "Usage:" in done.stdout
