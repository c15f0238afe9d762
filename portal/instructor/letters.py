"""The email addresses of a class, to be copied or written to at once."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from urllib.parse import quote

from portal.instructor.rosters import Person

# Some mail programs take addresses of about 2,000 characters and cut what is longer.
LONGEST = 1800
BLIND = "mailto:?bcc="  # nobody sees whom else it goes to
PLAIN = re.compile(r"[^\s,;<>()\"\[\]@]+@[^\s,;<>()\"\[\]@]+")


@dataclass(frozen=True)
class Letter:
    """A mail to some of them: the first and the last by their number, and the link to begin it."""

    first: int
    last: int
    url: str


@dataclass(frozen=True)
class Mailing:
    """Addresses to write to, and how many people are left out because they have none to see."""

    addresses: tuple[str, ...]
    private: int
    unknown: int

    @property
    def letters(self) -> list[Letter]:
        """As few mails as mail programs can take."""
        return list(_letters(self.addresses))


def mailing(people: Iterable[Person]) -> Mailing:
    """To whom of them one can write."""
    found, people = dict[str, None](), list(people)
    for person in people:
        if PLAIN.fullmatch(person.email):
            found.setdefault(person.email)
    without = [each for each in people if each.email not in found]
    private = sum(each.private for each in without)
    return Mailing(tuple(found), private, len(without) - private)


def _letters(addresses: tuple[str, ...]) -> Iterator[Letter]:
    first, url = 1, ""
    for number, address in enumerate(addresses, 1):
        more = quote(address, safe="@")
        if url and len(url) + 1 + len(more) > LONGEST:
            yield Letter(first, number - 1, url)
            first, url = number, ""
        url = f"{url},{more}" if url else BLIND + more
    if url:
        yield Letter(first, len(addresses), url)
