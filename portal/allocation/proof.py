"""The proof of a round: commitments before the seed is known, and the published file after.

1. When the round is made, the portal draws a secret. The settings hold its SHA-256 and name where a
   public value will come from.
2. When the round ends, the root of the hash tree over settings and ballots is published. Receipts
   show it. From now on neither can change.
3. When the public value is known, the seed is the SHA-256 of secret and public value.

`verify.py` checks all of this without the portal. It has its own code for it, on purpose.
"""

import hashlib
import hmac
import json
from collections.abc import Iterable, Sequence
from typing import Any

from portal.allocation.mechanisms import allocate
from portal.allocation.problem import Problem, ballot_from_json, make, settings_from_json, to_json
from portal.allocation.result import Result

FORMAT = "fairseat allocation 1"
Proof = list[tuple[str, str]]  # the side ("left", "right") and the hash of each sibling


def sha256(text: str) -> str:
    """Return the digest of a text in hex."""
    return hashlib.sha256(text.encode()).hexdigest()


def canonical(value: Any) -> str:
    """Return the one JSON text of a value: sorted keys, no spaces, ASCII."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def code_of(key: str, student: int, number: str) -> str:
    """Return a student's ballot code, the same at each call, or students could choose a ticket.

    It has the student's number, so that no two students share it, and 128 bits that no one knows
    without the key. Its SHA-256 is the ballot's pseudonym.
    """
    return f"{number}-{hmac.new(key.encode(), str(student).encode(), 'sha256').hexdigest()[:32]}"


def seed_of(secret: str, public_value: str) -> str:
    return sha256(f"{secret}:{public_value}")


def root(problem: Problem) -> str:
    """Return the root over the settings and the ballots."""
    return tree(problem)[-1][0]


def path(rows: Sequence[Sequence[str]], at: int) -> Proof:
    """Return the hashes that lead from a leaf of a tree to its root; leaf 0 is the settings."""
    proof = []
    for row in rows[:-1]:
        sibling = at ^ 1
        if sibling < len(row):
            proof.append(("right" if sibling > at else "left", row[sibling]))
        at //= 2
    return proof


def leaf(value: Any) -> str:
    """Return the hash of settings, a ballot or another value of the tree."""
    return sha256(f"leaf:{canonical(value)}")


def node(left: str, right: str) -> str:
    """Return the hash of two hashes."""
    return sha256(f"node:{left}:{right}")


def published(
    problem: Problem, secret: str, public_value: str, result: Result | None = None
) -> dict[str, Any]:
    """Return the published file; compute the round if there is no `result` of it yet."""
    if sha256(secret) != problem.settings.commitment:
        raise ValueError("The secret is not the one that was committed.")
    result = result or allocate(problem, seed_of(secret, public_value))
    return {
        "format": FORMAT,
        "root": root(problem),
        "settings": to_json(problem.settings),
        "ballots": [to_json(ballot) for ballot in problem.ballots],
        "secret": secret,
        "public_value": public_value,
        "result": result.to_json(),
    }


def problem_of(file: dict[str, Any]) -> Problem:
    """Return the problem of a published file."""
    ballots = (ballot_from_json(each) for each in file["ballots"])
    return make(settings_from_json(file["settings"]), ballots)


def tree(problem: Problem) -> list[list[str]]:
    """Return the rows of the hash tree over the settings and the ballots, the leaves first."""
    return tree_of([to_json(problem.settings), *map(to_json, problem.ballots)])


def tree_of(values: Iterable[Any]) -> list[list[str]]:
    """Return the rows of the hash tree over values; a hash without a sibling moves up."""
    row = [leaf(value) for value in values]
    rows = [row]
    while len(row) > 1:
        pairs = [row[at : at + 2] for at in range(0, len(row), 2)]
        row = [node(*pair) if len(pair) > 1 else pair[0] for pair in pairs]
        rows.append(row)
    return rows
