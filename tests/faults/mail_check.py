"""Whether the mails that came are those of the outbox: each at least once, and under one id."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from email.message import EmailMessage


@dataclass(frozen=True)
class Mail:
    """A mail as it came."""

    id: str
    to: str
    text: str

    @property
    def number(self) -> int:
        """Which row of the outbox it says to be."""
        return int(self.id.partition("@")[0].rpartition("-")[2])


def read(message: EmailMessage) -> Mail:
    """What of it must be the same whenever it is sent."""
    return Mail(str(message["Message-ID"]), str(message["To"]), str(message.get_content()))


def wrong(outbox: Iterable[int], mails: Iterable[Mail]) -> Iterator[str]:
    """What did not come, came from nowhere, or came in two ways."""
    known, came = set(outbox), defaultdict[int, set[Mail]](set)
    for mail in mails:
        came[mail.number].add(mail)
    yield from (f"mail {number} never came" for number in sorted(known - came.keys()))
    yield from (f"mail {number} is in no outbox" for number in sorted(came.keys() - known))
    yield from (f"mail {number} came as {many}" for number, many in came.items() if len(many) > 1)
