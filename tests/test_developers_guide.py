"""The developer's guide names only files that exist, and its examples import only what exists."""

import re
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
GUIDE = (ROOT / "docs/developers-guide.md").read_text(encoding="utf-8")
FILES = set(re.findall(r"`((?:portal|templates|tests|e2e|migrations)/[\w/.-]+\.\w+)`", GUIDE))
IMPORTS = re.findall(r"^ +from (\S+) import (.+)$", GUIDE, re.MULTILINE)
# Those that the examples add.
NEW = {
    "migrations/versions/lab_limit.py",
    "portal/web/admin/no_room.py",
    "templates/admin/no_room.html",
    "tests/ledger/test_lab_limit.py",
    "tests/web/admin/test_no_room.py",
}


def test_files_exist() -> None:
    assert {each for each in FILES if not (ROOT / each).exists()} == NEW


@pytest.mark.parametrize(("module", "names"), IMPORTS)
def test_imports_exist(module: str, names: str) -> None:
    for each in names.split(", "):
        name = each.split(" as ")[0]
        assert hasattr(import_module(module), name) or import_module(f"{module}.{name}")
