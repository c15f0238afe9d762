"""What each student asked for and was told: kept, written down and read again."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from pathlib import Path

DECIDED, AWAY, UNKNOWN, WRONG = "decided", "away", "unknown", "wrong"


@dataclass
class Try:
    """One request: when it was sent and answered (Unix time), and what its answer was.

    `said`: decided, away (a clear "nothing was changed, try again"), unknown (no answer, or one
    that says so), or wrong (an answer that nobody should ever get).
    """

    sent: float
    answered: float = 0.0
    said: str = UNKNOWN
    what: str = ""  # the status, or the error


@dataclass
class Deed:
    """One wish of a student, asked for under one key until it was decided."""

    student: int
    act: str  # register, drop or leave
    section: int
    key: str
    instead: int = 0
    tries: list[Try] = field(default_factory=list)
    outcome: str = ""  # as the student was told; blank while that is unknown
    receipt: str = ""
    repeated: list[str] = field(default_factory=list)  # told when asked once more under the key

    @property
    def sent(self) -> float:
        """When it was first asked for."""
        return self.tries[0].sent

    @property
    def answered(self) -> float:
        """When it was decided, as far as the student knows."""
        return next((each.answered for each in self.tries if each.said == DECIDED), 0.0)


def write(path: Path, deeds: Iterable[Deed]) -> None:
    """One line of JSON for each."""
    path.write_text("".join(json.dumps(asdict(deed)) + "\n" for deed in deeds))


def read(path: Path) -> Iterator[Deed]:
    """What was written."""
    for line in path.read_text().splitlines():
        told = json.loads(line)
        yield Deed(**told | {"tries": [Try(**each) for each in told["tries"]]})


def longest_silence(deeds: Iterable[Deed], since: float, until: float) -> float:
    """The longest time (seconds) in which nobody's wish was decided."""
    moments = sorted(deed.answered for deed in deeds if since < deed.answered < until)
    stops = [since, *moments, until]
    return max(after - before for before, after in pairwise(stops))


def longest_wait(deeds: Iterable[Deed], since: float) -> float:
    """The longest that a student has waited for a decision, of those that came later."""
    return max((deed.answered - deed.sent for deed in deeds if deed.answered > since), default=0.0)
