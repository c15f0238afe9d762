"""Check the content of a root: python verify_root.py FILE [your code] [root you noted].

FILE is the proof of your ballot in an allocation round, or the draw of a waiting room: before the
opening its codes alone, afterwards also the line. It needs Python 3.9 and nothing else.
docs/allocation.md explains both.
"""

import hashlib
import json
import sys
from itertools import zip_longest
from pathlib import Path


def sha256(text):
    return hashlib.sha256(text.encode()).hexdigest()


def root_of(leaves):  # of the hash tree; the last hash of a row may be alone
    row = [sha256("leaf:" + json.dumps(x, sort_keys=True, separators=(",", ":"))) for x in leaves]
    while row[1:]:
        row = [sha256(f"node:{a}:{b}") if b else a for a, b in zip_longest(row[::2], row[1::2])]
    return row[0]


def climb(below, steps):  # of a proof: the side and the hash of each partner, up to the root
    for side, partner in steps:
        left, right = (partner, below) if side == "left" else (below, partner)
        below = sha256(f"node:{left}:{right}")
    return below


def main(path, code="", noted=""):
    data, mine = json.loads(Path(path).read_text(encoding="utf-8")), sha256(code)
    if "ballot" in data:
        root, names = climb(root_of([data["ballot"]]), data["proof"]), [data["ballot"]["pseudonym"]]
        print("The ballot:", data["ballot"])
    else:
        root, names = root_of([data["settings"], *data["codes"]]), data["codes"]
        print("Announced?", len(names), "codes,", data["settings"])
        print("Published there?", [data.get("public_value")])
    tests = {
        "The root is the one of this file.": root == data["root"],
        "It is the root that you noted.": noted in ("", root),
        "No code is there twice.": len(names) == len(set(names)),
        "Your code is under the root.": not code or mine in names,
    }
    if "line" in data and "ballot" not in data:
        line, keys = [name for name, key in data["line"] if name], [k for n, k in data["line"] if n]
        seed = sha256(f"{data['secret']}:{data['public_value']}")
        tests |= {
            "The secret is the committed one.": sha256(data["secret"])
            == data["settings"]["commitment"],
            "Everyone in the queue has a code of their own.": set(line) <= set(names)
            and len(line) == len(set(line)),
            "The order follows from secret, public value and codes.": keys == sorted(keys)
            and keys == [sha256(f"{seed}:{name}")[:13] for name in line],
            "Students without a code come last.": all(n for n, key in data["line"][: len(line)]),
            "You are in the queue (if you joined early).": not code or mine in line,
        }
        print("Your position in the queue:", 1 + line.index(mine) if mine in line else "none")
        print("Early students without a code, who come last:", len(data["line"]) - len(line))
    print(*(f"{'yes' if passed else 'NO '} {text}" for text, passed in tests.items()), sep="\n")
    print("Root:", root)
    return 0 if all(tests.values()) else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
