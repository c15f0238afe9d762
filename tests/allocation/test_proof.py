"""What anyone can check of a published round, and what a cheating server is caught at."""

import ast
import copy
import hashlib
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from portal.allocation import proof, verify, verify_root
from portal.allocation.mechanisms import allocate
from portal.allocation.problem import MECHANISMS, Choice, Problem, to_json
from tests.allocation.rounds import a_round, at, ballot, choices, section
from tests.allocation.scripts import Done, alone, here

SECRET = "5ec7e7" * 10
CODES = {name: f"66{at}-{name * 8}" for at, name in enumerate("abcdefg")}
File = dict[str, Any]


def problem(mechanism: str = "draft") -> Problem:
    sections = [
        section("A", 2, meetings=at(9), priority=("majors",)),
        section("B", 2, meetings=at(9), reserves=(("majors", 1),)),
        section("C", 3, pool="P"),
        section("D", 3, pool="P"),
    ]
    asked = {
        "a": choices("A C"),
        "b": choices("A|B D"),
        "c": choices("B C+D"),
        "d": (Choice((("A",),), "J"), *choices("C")),
        "e": (*choices("B"), Choice((("A",),), "J")),
        "f": choices("C A"),
        "g": choices("D A"),
    }
    ballots = [
        ballot(proof.sha256(CODES[name]), asked[name], cohorts=("majors",) if name > "d" else ())
        for name in asked
    ]
    more = {"pools": {"P": 4}, "commitment": proof.sha256(SECRET), "public_source": "drand 1234"}
    return a_round(sections, ballots, mechanism=mechanism, **more)


def file(mechanism: str = "draft") -> File:
    """Return a published file, as it is read by someone else."""
    told: File = json.loads(json.dumps(proof.published(problem(mechanism), SECRET, "b16b00")))
    return told


def check(told: File, tmp_path: Path, *arguments: str) -> Done:
    return here(verify, told, tmp_path, *arguments)


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_an_honest_file_passes_and_shows_a_student_their_ballot(
    mechanism: str, tmp_path: Path
) -> None:
    told = file(mechanism)
    found = alone(verify, told, tmp_path, CODES["a"], told["root"])
    assert (found.returncode, found.stderr) == (0, "")
    assert "NO" not in found.stdout
    assert str(told["result"][proof.sha256(CODES["a"])]) in found.stdout
    assert "drand 1234" in found.stdout


def of_a(told: File) -> File:
    return next(each for each in told["ballots"] if each["pseudonym"] == proof.sha256(CODES["a"]))


def drops_a_ballot(told: File) -> None:
    told["ballots"].remove(of_a(told))


def alters_a_ballot(told: File) -> None:
    of_a(told)["choices"].reverse()


def refuses_a_section(told: File) -> None:
    of_a(told)["refused"] = ["A"]


def lifts_a_rule(told: File) -> None:
    of_a(told)["own"] = {"A": {"meetings": []}}


def parts_a_joint_choice(told: File) -> None:
    for each in told["ballots"]:
        for choice in each["choices"]:
            choice["joint"] = ""


def adds_a_ballot(told: File) -> None:
    told["ballots"].append({**of_a(told), "pseudonym": "f" * 64})


def puts_a_ballot_twice(told: File) -> None:
    told["ballots"].append(of_a(told))
    told["ballots"].sort(key=lambda each: each["pseudonym"])


def reorders_the_ballots(told: File) -> None:
    told["ballots"].reverse()


def changes_a_capacity(told: File) -> None:
    told["settings"]["sections"][0]["capacity"] += 1


def changes_the_mechanism(told: File) -> None:
    told["settings"]["mechanism"] = "serial"


def own_of_a(told: File, section_: str, **fields: Any) -> None:
    of_a(told)["own"] = {section_: fields}


def seats_two_in_one_seat(told: File) -> None:
    own_of_a(told, "A", id="B")


def gives_a_friend_priority(told: File) -> None:
    own_of_a(told, "A", priority=[])


def reserves_less_than_nothing(told: File) -> None:
    told["settings"]["sections"][0]["reserves"] = [["none", -1]]


def reserves_more_than_all(told: File) -> None:
    told["settings"]["sections"][0]["reserves"] = [["majors", 3]]


def makes_a_joint_choice_of_one(told: File) -> None:
    of_a(told)["choices"][0]["joint"] = "alone"


def joins_different_choices(told: File) -> None:
    of_a(told)["choices"][1]["joint"] = "J"


def names_a_section_twice(told: File) -> None:
    again = {**told["settings"]["sections"][0], "capacity": 0}
    told["settings"]["sections"].insert(0, again)


def asks_for_a_section_twice(told: File) -> None:
    of_a(told)["choices"][0]["alternatives"] = [["A", "A"]]


def takes_less_than_no_credits(told: File) -> None:
    own_of_a(told, "A", credits=-400)


def takes_less_than_no_load(told: File) -> None:
    own_of_a(told, "A", load=-400)


def copies_a_pseudonym_in_capitals(told: File) -> None:
    told["ballots"].append({**of_a(told), "pseudonym": of_a(told)["pseudonym"].upper()})
    told["ballots"].sort(key=lambda each: each["pseudonym"])


def joint_choices(told: File) -> list[Any]:
    return [c for each in told["ballots"] for c in each["choices"] if c["joint"] == "J"]


def ranks_a_joint_choice_twice(told: File) -> None:
    for each in told["ballots"]:
        if shared := next((c for c in each["choices"] if c["joint"]), None):
            each["choices"].append(shared)


def gives_a_joint_choice_a_backup(told: File) -> None:
    for choice in joint_choices(told):
        choice["alternatives"].append(["D"])


IMPOSSIBLE = [
    names_a_section_twice,
    asks_for_a_section_twice,
    takes_less_than_no_credits,
    takes_less_than_no_load,
    copies_a_pseudonym_in_capitals,
    ranks_a_joint_choice_twice,
    gives_a_joint_choice_a_backup,
    seats_two_in_one_seat,
    gives_a_friend_priority,
    reserves_less_than_nothing,
    reserves_more_than_all,
    makes_a_joint_choice_of_one,
    joins_different_choices,
]
CHEATS = [
    *IMPOSSIBLE,
    drops_a_ballot,
    alters_a_ballot,
    refuses_a_section,
    lifts_a_rule,
    parts_a_joint_choice,
    adds_a_ballot,
    puts_a_ballot_twice,
    reorders_the_ballots,
    changes_a_capacity,
    changes_the_mechanism,
]


@pytest.mark.parametrize("cheat", CHEATS)
def test_whoever_changes_ballots_or_settings_is_caught(
    cheat: Callable[[File], None], tmp_path: Path
) -> None:
    told = file()
    noted = told["root"]
    cheat(told)
    assert check(told, tmp_path).returncode
    # The cheat computes everything again, so that the file fits. The root that was noted does not.
    told["root"] = verify.root_of([told["settings"], *told["ballots"]])
    seed = proof.seed_of(told["secret"], told["public_value"])
    told["result"] = verify.result_of(told["settings"], told["ballots"], seed)
    said = check(told, tmp_path, "", noted).stdout
    assert "NO  The root fits the file and the one you noted." in said


@pytest.mark.parametrize("cheat", IMPOSSIBLE)
def test_a_round_that_makes_no_sense_is_shown_whatever_root_is_published(
    cheat: Callable[[File], None], tmp_path: Path
) -> None:
    told = file()
    cheat(told)
    told["root"] = verify.root_of([told["settings"], *told["ballots"]])
    seed = proof.seed_of(told["secret"], told["public_value"])
    told["result"] = verify.result_of(told["settings"], told["ballots"], seed)
    found = check(told, tmp_path)
    assert "NO  The settings and ballots make sense." in found.stdout
    assert "yes The result follows from them." in found.stdout


@pytest.mark.parametrize("seats", [float("inf"), 1.5])
def test_seats_that_are_no_whole_number_are_an_error(seats: float, tmp_path: Path) -> None:
    told = file()
    told["settings"]["sections"][0]["capacity"] = seats
    told["root"] = verify.root_of([told["settings"], *told["ballots"]])
    found = alone(verify, told, tmp_path)
    assert found.returncode
    assert "invalid literal for int()" in found.stderr


def test_a_student_whose_ballot_was_dropped_notices_without_a_root(tmp_path: Path) -> None:
    told = file()
    drops_a_ballot(told)
    told["root"] = verify.root_of([told["settings"], *told["ballots"]])
    seed = proof.seed_of(told["secret"], told["public_value"])
    told["result"] = verify.result_of(told["settings"], told["ballots"], seed)
    assert check(told, tmp_path).returncode == 0
    assert "NO  Your ballot is in the file." in check(told, tmp_path, CODES["a"]).stdout


def test_whoever_picks_the_seed_is_caught(tmp_path: Path) -> None:
    told, other = file(), "0dd" * 20
    told["secret"] = other
    seed = proof.seed_of(other, told["public_value"])
    told["result"] = verify.result_of(told["settings"], told["ballots"], seed)
    assert "NO  The secret is the committed one." in check(told, tmp_path).stdout
    told["settings"]["commitment"] = proof.sha256(other)
    assert "NO  The root" in check(told, tmp_path).stdout


def test_another_public_value_gives_another_result_or_is_shown(tmp_path: Path) -> None:
    told = file()
    told["public_value"] = "badbee"
    found = check(told, tmp_path)
    assert "'drand 1234'" in found.stdout
    assert "'badbee'" in found.stdout


@pytest.mark.parametrize("name", ["public_source", "public_at"])
def test_what_is_not_under_the_root_is_not_shown_as_announced(name: str, tmp_path: Path) -> None:
    """A server that tries many values would have to show another source than it announced."""
    told = file()
    told[name] = "drand 9999"
    told["public_value"] = "badbee"
    seed = proof.seed_of(told["secret"], told["public_value"])
    told["result"] = verify.result_of(told["settings"], told["ballots"], seed)
    found = check(told, tmp_path)
    assert "drand 9999" not in found.stdout
    assert "drand 1234" in found.stdout


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_whoever_changes_the_result_is_caught(mechanism: str, tmp_path: Path) -> None:
    told = file(mechanism)
    for name, seats in told["result"].items():
        changed = copy.deepcopy(told)
        changed["result"][name] = seats[1:] if seats else [[1, 1, 1]]
        assert verify.result_of(told["settings"], told["ballots"], seed()) != changed["result"]
    found = alone(verify, changed, tmp_path)
    assert found.returncode
    assert "NO  The result" in found.stdout


def seed() -> str:
    return proof.seed_of(SECRET, "b16b00")


def test_the_secret_must_be_the_committed_one() -> None:
    with pytest.raises(ValueError, match="committed"):
        proof.published(problem(), "another", "b16b00")


def top_of(ballot: dict[str, Any], steps: Sequence[Sequence[str]]) -> str:
    """The hash to which a proof leads from a ballot."""
    found = proof.leaf(ballot)
    for side, sibling in steps:
        found = proof.node(*((found, sibling) if side == "right" else (sibling, found)))
    return found


@pytest.mark.parametrize("size", range(1, 9))
def test_a_proof_shows_that_a_ballot_is_under_the_root(size: int) -> None:
    ballots = [ballot(f"s{number}", "A") for number in range(size)]
    round_ = a_round([section("A")], ballots)
    root = proof.root(round_)
    for number, each in enumerate(map(to_json, round_.ballots)):
        steps = proof.path(proof.tree(round_), number + 1)
        assert top_of(each, steps) == root
        assert top_of({**each, "most_courses": 1}, steps) != root
        assert top_of(each, steps[1:]) != root


def inclusion(
    told: File, name: str, tmp_path: Path, *more: str, run: Callable[..., Done] = here
) -> tuple[int, str]:
    """Run the script for inclusion proofs on the proof of a ballot of a frozen round."""
    frozen = problem()
    number = [each.pseudonym for each in frozen.ballots].index(proof.sha256(CODES[name])) + 1
    content = {
        "ballot": to_json(frozen.ballots[number - 1]),
        "proof": proof.path(proof.tree(frozen), number),
        "root": proof.root(frozen),
    }
    done = run(verify_root, content | told, tmp_path, *more)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("name", CODES)
def test_the_script_checks_an_inclusion_proof(name: str, tmp_path: Path) -> None:
    root = proof.root(problem())
    code, said = inclusion({}, name, tmp_path, CODES[name], root)
    assert (code, "NO" in said) == (0, False)
    code, said = inclusion({}, name, tmp_path, CODES["a" if name != "a" else "b"], root)
    assert code
    assert "NO  Your code is under the root." in said
    code, said = inclusion({}, name, tmp_path, CODES[name], "f" * 64)
    assert code
    assert "NO  It is the root that you noted." in said


@pytest.mark.parametrize("change", ["ballot", "proof", "root"])
def test_the_script_catches_a_changed_proof(change: str, tmp_path: Path) -> None:
    altered = to_json(problem().ballots[0]) | {"most_courses": 1}
    wrong = {"ballot": altered, "proof": [["left", "0" * 64]], "root": "f" * 64}
    told = {change: wrong[change]}
    code, said = inclusion(told, "a", tmp_path, CODES["a"], run=alone)
    assert code
    assert "NO  The root is the one of this file." in said


def test_no_two_students_can_share_a_ballot_code() -> None:
    codes = {proof.code_of("key", *student) for student in ((1, "661"), (2, "662"), (2, "662"))}
    assert len(codes) == 2
    assert {code.partition("-")[0] for code in codes} == {"661", "662"}
    assert proof.code_of("another", 1, "661") not in codes


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_the_published_problem_reads_back_the_same(mechanism: str) -> None:
    told = file(mechanism)
    read = proof.problem_of(told)
    assert read == problem(mechanism)
    assert proof.root(read) == told["root"]
    assert allocate(read, seed()).to_json() == told["result"]


@pytest.mark.parametrize("script", [verify, verify_root])
def test_the_docs_have_the_hash_of_each_script(script: ModuleType) -> None:
    """A student who doubts the portal can compare the script that it offers."""
    path = Path(str(script.__file__))
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    docs = (Path(__file__).parents[2] / "docs/allocation.md").read_text()
    assert f"| `{path.name}` | `{digest}` |" in docs, digest


def test_the_verifier_is_short_and_needs_the_standard_library_alone() -> None:
    source = Path(verify.__file__).read_text()
    tree = ast.parse(source)
    documentation = len(ast.get_docstring(tree, clean=False).splitlines())  # type: ignore[union-attr]
    code = [line for line in source.splitlines() if line.strip()]
    assert len(code) - documentation <= 150
    imported = {
        each.name for node in ast.walk(tree) if isinstance(node, ast.Import) for each in node.names
    }
    imported |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert imported <= sys.stdlib_module_names
