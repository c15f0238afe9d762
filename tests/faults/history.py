"""The requests of each student and their answers: kept, written to a file and read again."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from pathlib import Path

DECIDED, AWAY, UNKNOWN, WRONG = "decided", "away", "unknown", "wrong"


@dataclass
class Try:
    """One attempt to send a request: its times (Unix time), and its answer.

    `said`: decided, away (a clear "nothing was changed, try again"), unknown (no answer, or one
    that says so), or wrong (an answer that no student should ever get).
    """

    sent: float
    answered: float = 0.0
    said: str = UNKNOWN
    what: str = ""  # the status, or the error


@dataclass
class Request:
    """A request of a student, sent under one idempotency key until it was decided."""

    student: int
    act: str  # register, drop or leave
    section: int
    key: str
    instead: int = 0
    tries: list[Try] = field(default_factory=list)
    outcome: str = ""  # of the answer; blank while that is unknown
    receipt: str = ""
    repeated: list[str] = field(default_factory=list)  # answers to the same key, later

    @property
    def sent(self) -> float:
        """Return when it was first sent."""
        return self.tries[0].sent

    @property
    def answered(self) -> float:
        """Return when the decision was received; 0 while there is none."""
        return next((each.answered for each in self.tries if each.said == DECIDED), 0.0)


def write(path: Path, requests: Iterable[Request]) -> None:
    """Write a line of JSON for each."""
    path.write_text("".join(json.dumps(asdict(request)) + "\n" for request in requests))


def read(path: Path) -> Iterator[Request]:
    """Yield the requests of a file."""
    for line in path.read_text().splitlines():
        row = json.loads(line)
        yield Request(**row | {"tries": [Try(**each) for each in row["tries"]]})


def longest_silence(requests: Iterable[Request], since: float, until: float) -> float:
    """Return the longest time (seconds) in which no request was decided."""
    moments = sorted(request.answered for request in requests if since < request.answered < until)
    stops = [since, *moments, until]
    return max(after - before for before, after in pairwise(stops))


def longest_wait(requests: Iterable[Request], since: float) -> float:
    """Return the longest wait for a decision (seconds), of the decisions after `since`."""
    return max(
        (request.answered - request.sent for request in requests if request.answered > since),
        default=0.0,
    )
