"""How a roster is looked at: whom it is searched for, and by what it is sorted."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any
from unicodedata import combining, normalize

from portal.core.i18n import _l
from portal.instructor.rosters import Person, Roster
from portal.people.models import year_order

LONGEST = 80
By = Callable[[Person], Any]
ORDERS: dict[str, By] = {
    "name": lambda person: folded(person.name),
    "number": lambda person: person.number,
    "year": lambda person: year_order(person.year),
    "major": lambda person: person.majors,
    "email": lambda person: folded(person.email),
    "credits": lambda person: person.credits,
    "since": lambda person: person.since,
}

SORTS = {
    "name": _l("Name"),
    "number": _l("Number"),
    "year": _l("Year"),
    "major": _l("Major"),
    "email": _l("Email"),
    "credits": _l("Credits"),
    "since": _l("Since"),
}


@dataclass(frozen=True)
class Look:
    """The words to search for, and the order of the roster; a waitlist has its own."""

    text: str = ""
    sort: str = "name"
    down: bool = False

    @classmethod
    def parse(cls, args: Mapping[str, str]) -> "Look":
        """As an address says it; nonsense is left out."""
        text = " ".join(args.get("q", "").replace("\0", "").split())[:LONGEST]
        sort = args.get("sort", "")
        down = args.get("order") == "down"
        return cls(text, sort, down) if sort in ORDERS else cls(text)

    def args(self) -> dict[str, str]:
        """What an address says of it."""
        words = {"q": self.text} if self.text else {}
        plain = (self.sort, self.down) == ("name", False)
        return words if plain else words | {"sort": self.sort, "order": self.direction}

    @property
    def direction(self) -> str:
        """Up or down."""
        return "down" if self.down else "up"

    def by(self, sort: str) -> "Look":
        """The look once a column's head is pressed: by it, or the other way round."""
        return replace(self, sort=sort, down=sort == self.sort and not self.down)

    def at(self, roster: Roster) -> Roster:
        """What it shows of a roster; places in line stay what they are."""
        inside = sorted(self._found(roster.enrolled), key=ORDERS["name"])
        inside.sort(key=ORDERS[self.sort], reverse=self.down)
        return Roster(inside, self._found(roster.waiting))

    def _found(self, people: list[Person]) -> list[Person]:
        words = folded(self.text).split()
        return [each for each in people if all(word in _words(each) for word in words)]


def folded(text: str) -> str:
    """The text as it is sorted and searched by: without case and accents."""
    apart = normalize("NFKD", text.casefold())
    return "".join(sign for sign in apart if not combining(sign))


def _words(person: Person) -> str:
    return folded(" ".join((person.name, person.number, person.email, *person.majors, person.year)))
