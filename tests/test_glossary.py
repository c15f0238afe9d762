"""Names follow docs/glossary.md: a retired word does not come back.

Checked are modules, classes, functions, parameters, variables and fields of classes in Python, Lua
and JavaScript, file names, macros and variables of templates, and the names of tests.
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
RETIRED_ALONE = {"words"}  # instead of message, text or label; `…_in_words` says more
# Columns, fields of the API and the ledger's JSON keep some of these names.
RETIRED_VARIABLES = {"told", "asked", "said", "whom", "news", "patience", "all_said", "nobody"}
# Words for choices, alternatives, claims and swaps, which mean other things elsewhere.
OF_SUBMISSIONS = {
    *("line", "lines", "option", "options", "wish", "wishes", "given_up", "instead"),
    *("release", "partner", "partners"),
}
STORED = {"lines", "whom"}  # class fields with the name of a column and of a form's field
OF_TESTS = {
    *("told", "said", "hear", "hears", "heard", "news", "wish", "wishes", "wished", "passed_over"),
    *("nobody", "somebody", "anew", "thrice", "kept_seats", "deed", "deeds"),
}

# Where names stand in files that are not Python: after these words, up to a comment.
COMMENTS = {".lua": "--", ".js": "// ", ".html": "{#"}
NAMES = {
    ".lua": (re.compile(r"\bfunction ([\w.:]+)"),),
    ".js": (re.compile(r"\b(?:function|class) (\w+)"),),
    ".html": (re.compile(r"\bmacro (\w+)"),),
}
VARIABLES = {
    ".lua": (
        re.compile(r"\blocal (?!function\b)([\w, ]+)"),
        re.compile(r"\bfunction\b[^(]*\(([\w, ]*)\)"),
        re.compile(r"\bfor ([\w, ]+?) in\b"),
        re.compile(r"\bfor (\w+) ="),
    ),
    ".js": (
        re.compile(r"\b(?:const|let) \[?([\w, ]+?)\]? (?:=|of)"),
        re.compile(r"\bfunction \w*\(([^)]*)\)"),
    ),
    ".html": (
        re.compile(r"\{%-? (?:set|with) (\w+)"),
        re.compile(r"\{%-? for ([\w, ]+?) in\b"),
        re.compile(r"\bmacro \w+\((.*?)\) -?%"),
    ),
}


def sources() -> Iterator[Path]:
    """Yield every Python, Lua and JavaScript file and template of the product."""
    for folder in ("portal", "jobs", "static/js", "templates"):
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in {".py", *COMMENTS}:
                yield path


def found(path: Path, patterns: tuple[re.Pattern[str], ...]) -> Iterator[tuple[int, str]]:
    """Yield the line and name of everything that the patterns find outside of comments."""
    for number, line in enumerate(path.read_text().splitlines(), start=1):
        code = line.split(COMMENTS[path.suffix])[0]
        for pattern in patterns:
            for names_ in pattern.findall(code):
                for name in re.findall(r"\w+", names_):
                    yield number, name


def names(path: Path) -> Iterator[str]:
    """Yield the file's name, and those of its classes, functions, methods and macros."""
    yield path.stem
    if path.suffix == ".py":
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef | ast.FunctionDef):
                yield node.name.strip("_")
    else:
        for _, name in found(path, NAMES[path.suffix]):
            yield name


def variables(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the line and name of each parameter, variable and field of a class."""
    return found(path, VARIABLES[path.suffix]) if path.suffix != ".py" else of_python(path)


def of_python(path: Path) -> Iterator[tuple[int, str]]:
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
            and (id(node) not in fields or node.id not in STORED)
        ):
            yield node.lineno, node.id


def retired_variables(path: Path) -> set[str]:
    """Return the words that no variable of the file has as its name."""
    decides = {"ledger", "registration"} & set(path.relative_to(ROOT).parts)
    return RETIRED_VARIABLES | OF_SUBMISSIONS if decides else RETIRED_VARIABLES


def snake(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


def has_word(name: str, words: set[str]) -> bool:
    """Return whether one of the words is the name, or a part of it."""
    return any(f"_{word}_" in f"_{name}_" for word in words)


def test_no_retired_word_comes_back_as_a_name() -> None:
    assert not {
        f"{path.relative_to(ROOT)}: {name}"
        for path in sources()
        for name in names(path)
        if has_word(snake(name), RETIRED) or snake(name) in RETIRED_ALONE
    }


def test_no_retired_word_comes_back_as_a_variable() -> None:
    assert not {
        f"{path.relative_to(ROOT)}:{line}: {name}"
        for path in sources()
        for line, name in variables(path)
        if name.strip("_") in retired_variables(path)
    }


def test_no_retired_word_comes_back_in_the_name_of_a_test() -> None:
    assert not {
        f"{path.relative_to(ROOT)}: {name}"
        for folder in ("tests", "e2e")
        for path in (ROOT / folder).rglob("test_*.py")
        for name in re.findall(r"^def (test_\w+)", path.read_text(), re.MULTILINE)
        if has_word(name, OF_TESTS)
    }
