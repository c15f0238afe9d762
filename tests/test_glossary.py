"""Names follow docs/glossary.md: a retired word does not come back.

Modules, classes, functions and Lua files are checked. `LEFT` lists the places that still have a
retired word; it only shrinks.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from portal.core.settings import ROOT

RETIRED = {
    *("board", "card", "wish", "wishes", "told", "foresight", "flight", "flights", "ruling"),
    *("rulings", "sentences", "objection", "reprieve", "passed_over", "deed", "deeds", "fates"),
    *("fuses", "heart", "hands", "crews", "errand", "errands", "chores", "inscription"),
    *("mending", "slices", "strangers", "doors", "visits", "meter", "meters", "overtaken"),
    *("take_off", "give_up", "step_out", "by_hand", "sharers", "keeping"),
}
LEFT = {
    "portal/waiting_room/functions/doors.lua: doors",
}


def sources() -> Iterator[Path]:
    """Yield every Python and Lua file of the product."""
    for folder in ("portal", "jobs"):
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in {".py", ".lua"}:
                yield path


def public_names(path: Path) -> Iterator[str]:
    """Yield the module's name, and those of its public classes and functions."""
    yield path.stem
    if path.suffix != ".py":
        return
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and not node.name.startswith("_"):
            yield node.name


def snake(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


def retired() -> set[str]:
    """Return the names that have a retired word, as `path: name`."""
    return {
        f"{path.relative_to(ROOT)}: {name}"
        for path in sources()
        for name in public_names(path)
        if snake(name) in RETIRED or RETIRED & set(snake(name).split("_"))
    }


def test_no_retired_word_comes_back_as_a_name() -> None:
    assert retired() <= LEFT


def test_what_is_left_is_still_there() -> None:
    assert retired() >= LEFT
