"""Names follow docs/glossary.md: a retired word does not come back.

Modules, classes, functions, parameters and variables are checked, in Python and in Lua.
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
    *("take_off", "give_up", "step_out", "by_hand", "sharers", "keeping", "let_go"),
    *("asked", "said", "standing", "news", "patience", "hear", "heard", "parcel", "cure"),
    *("company", "resting", "unlike", "strays"),
}
# Fields of tables, forms, the API and the ledger's JSON keep some of these names.
RETIRED_VARIABLES = {"told", "asked", "said", "whom", "news", "patience", "all_said"}
# Words for choices, alternatives, claims and swaps, which mean other things elsewhere.
OF_SUBMISSIONS = {"line", "lines", "option", "options", "wish", "wishes", "given_up", "instead"}


def sources() -> Iterator[Path]:
    """Yield every Python and Lua file of the product."""
    for folder in ("portal", "jobs"):
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in {".py", ".lua"}:
                yield path


def names(path: Path) -> Iterator[str]:
    """Yield the module's name, and those of its classes, functions and methods."""
    yield path.stem
    if path.suffix == ".py":
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef | ast.FunctionDef):
                yield node.name.strip("_")


def retired_variables(path: Path) -> set[str]:
    """Return the words that no variable of the file has as its name."""
    decides = {"ledger", "registration"} & set(path.relative_to(ROOT).parts)
    return RETIRED_VARIABLES | OF_SUBMISSIONS if decides else RETIRED_VARIABLES


def variables(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the line and name of each parameter and local or module variable."""
    return lua_variables(path) if path.suffix == ".lua" else python_variables(path)


# Lua: `local a, b`, `local function f`, `function T:f`, the parameters of both, and loops.
LUA_NAMES = (
    re.compile(r"\blocal (?!function\b)([\w, ]+)"),
    re.compile(r"\bfunction ([\w.:]+)"),
    re.compile(r"\bfunction\b[^(]*\(([\w, ]*)\)"),
    re.compile(r"\bfor ([\w, ]+?) in\b"),
    re.compile(r"\bfor (\w+) ="),
)


def lua_variables(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the line and name of each function, parameter and local variable."""
    for number, line in enumerate(path.read_text().splitlines(), start=1):
        code = line.split("--")[0]
        for pattern in LUA_NAMES:
            for found in pattern.findall(code):
                for name in re.findall(r"\w+", found):
                    yield number, name


def python_variables(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the line and name of each parameter and local or module variable."""
    tree = ast.parse(path.read_text())
    fields = {
        id(target)
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
        for field in node.body
        if isinstance(field, ast.Assign | ast.AnnAssign)
        for target in (field.targets if isinstance(field, ast.Assign) else [field.target])
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.arg):
            yield node.lineno, node.arg
        elif (
            isinstance(node, ast.Name)
            and isinstance(node.ctx, ast.Store)
            and id(node) not in fields
        ):
            yield node.lineno, node.id


def snake(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


def retired() -> set[str]:
    """Return the names that have a retired word, as `path: name`."""
    return {
        f"{path.relative_to(ROOT)}: {name}"
        for path in sources()
        for name in names(path)
        if snake(name) in RETIRED or RETIRED & set(snake(name).split("_"))
    }


def test_no_retired_word_comes_back_as_a_name() -> None:
    assert not retired()


def test_no_retired_word_comes_back_as_a_variable() -> None:
    assert not {
        f"{path.relative_to(ROOT)}:{line}: {name}"
        for path in sources()
        for line, name in variables(path)
        if name.strip("_") in retired_variables(path)
    }
