"""`make mutants`: changes single lines of code, and shows which changes no test notices.

It changes Python, Lua, and SQL in texts of Python.
A survivor may need no test: some changes alter only the speed, a log, or nothing at all.
"""

import argparse
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

SWAPS = {"not ": [""], "is": ["is not"], "in": ["not in"], "break": ["pass"], "~=": ["=="]}
SWAPS |= {"NOT ": [""], "IS ": ["IS NOT "], "LEFT JOIN": ["JOIN"]}
PAIRS = """== != < <= < >= > >= > <= + - * / and or min max any all True False true false
    and_ or_ is_ is_not in_ not_in AND OR ASC DESC"""
for one, other in re.findall(r"(\S+) (\S+)", PAIRS):
    SWAPS.setdefault(one, []).append(other)
    SWAPS.setdefault(other, []).append(one)
# Operators have a space on both sides, unlike signs and stars before arguments.
SIGNS = r"(?<= )(?:[=!~]=|[<>]=?|[-+*/]|is|in)(?= )"
WORDS = r"\b(?:and_?|or_?|not |min|max|any|all|break|[Tt]rue|[Ff]alse|is_(?:not)?|(?:not_)?in_)\b"
IN_SQL = r"\b(?:AND|OR|NOT |IS (?!NOT)|LEFT JOIN|ASC|DESC)\b"
NUMBER = r"(?<![\w.])\d+\b(?!\.)"
TOKEN = re.compile(f"{SIGNS}|{WORDS}|{IN_SQL}|{NUMBER}")
RESULT = re.compile(r"(?<=\breturn )(?!(?:None|nil|[Ff]alse)(?: end)?$).+?(?=;| end\b|$)")
CONDITION = re.compile(r"(?<=\bif ).+?(?=:$| then\b)")
CALL_OR_ASSIGNMENT = re.compile(
    r"^\s+(?=\S)(?!(?:local|return|if|for|while|[A-Z]+) )"
    r"(?:[\w.\[\]', ]|:(?! ))+(?:\(.*\)| [-+]?= .+)$"
)
TEXT = r'"(?:\\.|[^"\\\n])*"'
SQL = re.compile(r"\b(?:SELECT|INSERT INTO|UPDATE|DELETE FROM|JOIN|WHERE)\b")
UNREAD = {".py": rf'"""[^\0]*?"""|{TEXT}|#.*|^(?:from|import|@).*', ".lua": f"{TEXT}|--.*"}


class Mutant(NamedTuple):
    file: Path
    line: int
    old: str
    new: str


def mutants(file: Path) -> Iterator[Mutant]:
    """Give all changes of a file, but none of its comments, and of its texts only the SQL."""
    text, python = file.read_text(), file.suffix == ".py"
    unread = re.compile(UNREAD[file.suffix], re.MULTILINE)
    code = unread.sub(_sql_alone, text)
    for number, (old, line) in enumerate(zip(text.split("\n"), code.split("\n"), strict=True), 1):
        for begin, end, new in _changes(line.rstrip(" \0"), "pass None" if python else " nil"):
            yield Mutant(file, number, old, old[:begin] + new.format(old[begin:end]) + old[end:])


def _sql_alone(found: re.Match[str]) -> str:
    return found[0] if SQL.search(found[0]) else re.sub(r"[^\n]", "\0", found[0])


def _changes(line: str, nothing: str) -> Iterator[tuple[int, int, str]]:
    empty, none = nothing.split(" ")
    for found in TOKEN.finditer(line):
        for new in SWAPS.get(found[0]) or [str(int(found[0]) + 1), str(int(found[0]) - 1)]:
            if empty or new not in ("not in", "pass"):
                yield *found.span(), new if empty else new.replace("!", "~")
    for part, new in ((RESULT, none), (CONDITION, "not ({})"), (CALL_OR_ASSIGNMENT, empty)):
        for found in part.finditer(line):
            if all(found[0].count(a) == found[0].count(b) for a, b in ("()", "[]", "{}")):
                yield found.end() - len(found[0].lstrip()), found.end(), new


def passes(tests: list[str], seconds: float | None = None) -> bool:
    """Return whether the tests pass in time; they end their servers in any case."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as run:
        for sent, left in ((signal.SIGINT, seconds), (signal.SIGKILL, 60)):
            try:
                return run.wait(left) == 0 and sent == signal.SIGINT
            except subprocess.TimeoutExpired:
                run.send_signal(sent)
            except KeyboardInterrupt:
                run.send_signal(signal.SIGINT)
                raise
    return False


def survives(mutant: Mutant, tests: list[str], seconds: float) -> bool | None:
    """Return whether no test notices the mutant; None if it is no Python."""
    former = mutant.file.read_text()
    lines = former.split("\n")
    lines[mutant.line - 1] = mutant.new
    try:
        if mutant.file.suffix == ".py":
            compile("\n".join(lines), mutant.file, "exec")
        mutant.file.write_text("\n".join(lines))
        return passes(tests, seconds)
    except SyntaxError:
        return None
    finally:
        mutant.file.write_text(former)


def main() -> None:
    """Run the tests against mutants, at most one for each line; print the share caught."""
    parser = argparse.ArgumentParser()
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--tests", nargs="+", required=True)
    for name, default in (("--number", 10), ("--seed", random.randrange(10_000))):
        parser.add_argument(name, type=int, default=default)
    given = parser.parse_args()
    for ending in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(ending) != signal.SIG_IGN:  # as under nohup
            signal.signal(ending, signal.default_int_handler)
    command = ["git", "diff", "--stat", "HEAD", "--", *map(str, given.files)]
    if changed := subprocess.run(command, capture_output=True, text=True, check=False).stdout:
        print(f"These differ from git, perhaps since a run was killed:\n{changed}", flush=True)
    begin = time.monotonic()
    if not passes(given.tests):
        sys.exit("The tests fail without any change.")
    seconds = 30 + 3 * (time.monotonic() - begin)
    every = [each for file in given.files for each in mutants(file)]
    random.Random(given.seed).shuffle(every)
    caught = tried = 0
    for mutant in {(each.file, each.line): each for each in every}.values():
        if tried == given.number:
            break
        survivor = survives(mutant, given.tests, seconds)
        tried, caught = tried + (survivor is not None), caught + (survivor is False)
        if survivor:
            diff = f"- {mutant.old.strip()}\n  + {mutant.new.strip()}"
            print(f"{mutant.file}:{mutant.line}\n  {diff}", flush=True)
    print(f"Caught {caught} of {tried} mutants. To try the same ones again: SEED={given.seed}")


if __name__ == "__main__":
    main()
