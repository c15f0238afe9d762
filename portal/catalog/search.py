"""Search of sections: words and filters, read leniently from the address of a page."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, TypeVar

from rapidfuzz import fuzz, process

from portal.catalog import formatting
from portal.catalog.spellings import Unreadable, credits_of, days_of, time_of
from portal.ledger.types import SeatCounts

if TYPE_CHECKING:
    from werkzeug.datastructures import MultiDict

    from portal.catalog.views import MeetingView, SectionView

LONGEST = 200
LEAST_CORRECTED = 4  # letters
SIMILAR = 75  # of 100: how alike a mistyped word and its correction are
LONGEST_SUBJECT = 16

T = TypeVar("T")


@dataclass(frozen=True)
class Query:
    """Search words and filters; what could not be read is in `ignored` as (name, value)."""

    text: str = ""
    subject: str = ""
    days: int = 0  # meets on no other days than these; 0 = any
    start: int | None = None  # minutes since midnight
    end: int | None = None
    open_only: bool = False
    credits: Decimal | None = None
    fitting_only: bool = False  # at times when the student is free: `student.section_list`
    eligible_only: bool = False  # whose requirements the student meets: likewise
    ignored: tuple[tuple[str, str], ...] = ()

    @classmethod
    def parse(cls, args: "MultiDict[str, str]") -> "Query":
        """Return the query of these arguments; what can't be read goes to `ignored`."""
        reader = _ArgumentReader(args)
        return cls(
            text=" ".join(args.get("q", "").replace("\0", "").split())[:LONGEST],
            subject=reader.read("subject", subject) or "",
            days=reader.read_days(),
            start=reader.read("from", minutes),
            end=reader.read("to", minutes),
            open_only=bool(reader.read("open", yes)),
            credits=reader.read("credits", amount),
            fitting_only=bool(reader.read("fits", yes)),
            eligible_only=bool(reader.read("meets", yes)),
            ignored=tuple(reader.ignored),
        )

    def args(self) -> list[tuple[str, str]]:
        """Return the arguments from which `parse` makes this query, for links and hidden fields."""
        days = (name for bit, name in enumerate(formatting.DAYS) if self.days >> bit & 1)
        pairs = [
            ("q", self.text),
            ("subject", self.subject),
            *(("days", name) for name in days),
            ("from", hours(self.start)),
            ("to", hours(self.end)),
            ("open", "1" if self.open_only else ""),
            ("credits", "" if self.credits is None else formatting.plain_number(self.credits)),
            ("fits", "1" if self.fitting_only else ""),
            ("meets", "1" if self.eligible_only else ""),
        ]
        return [(name, value) for name, value in pairs if value]

    @property
    def narrowed(self) -> bool:
        """Return whether the query has any criterion."""
        return bool(self.args())

    def pick(
        self, sections: "Iterable[SectionView]", seats: dict[int, SeatCounts] | None
    ) -> "list[SectionView]":
        """Return the `sections` that fit, in order; without `seats` all count as open."""
        if not self.narrowed:
            return list(sections)
        wanted = terms(self.text)
        fitting = (each for each in sections if self.fits(each, seats))
        return [each for each in fitting if matches(each.search_index, wanted)]

    def fits(self, section: "SectionView", seats: dict[int, SeatCounts] | None) -> bool:
        if self.subject and section.subject_code != self.subject:
            return False
        if (
            self.credits is not None
            and not section.credits_min <= self.credits <= section.credits_max
        ):
            return False
        if self.open_only and seats is not None:
            counts = seats.get(section.id)
            if counts is None or not counts.claimable:
                return False
        return self.fits_times(section.meetings)

    def fits_times(self, meetings: "tuple[MeetingView, ...]") -> bool:
        """Return whether all timed meetings fit; False if none has a time.

        Common exam blocks and TBA meetings don't count.
        """
        if not (self.days or self.start is not None or self.end is not None):
            return True
        known = [m for m in meetings if m.clashes and m.mask and m.start is not None]
        return bool(known) and all(self.fits_meeting(meeting) for meeting in known)

    def fits_meeting(self, meeting: "MeetingView") -> bool:
        if self.days and meeting.mask & ~self.days:
            return False
        early = self.start is not None and (meeting.start or 0) < self.start
        late = self.end is not None and (meeting.end or 0) > self.end
        return not (early or late)


class _ArgumentReader:
    """Reads one argument after another and notes those that make no sense."""

    def __init__(self, args: "MultiDict[str, str]") -> None:
        self.args = args
        self.ignored: list[tuple[str, str]] = []

    def read(self, name: str, parse: Callable[[str], T]) -> T | None:
        value = self.args.get(name, "").strip()
        return self.understood(name, value, parse) if value else None

    def understood(self, name: str, value: str, parse: Callable[[str], T]) -> T | None:
        try:
            return parse(value)
        except ValueError:
            self.ignored.append((name, value[:LONGEST]))
            return None

    def read_days(self) -> int:
        mask = 0
        for value in self.args.getlist("days"):
            mask |= self.understood("days", value, days_of) or 0
        return mask


def subject(value: str) -> str:
    """Return a subject code in capitals."""
    if len(value) > LONGEST_SUBJECT or not value.isprintable():
        raise Unreadable(f"'{value}' is no subject.")
    return value.upper()


def minutes(value: str) -> int | None:
    """Minutes since midnight of a time of day."""
    moment = time_of(value)
    return None if moment is None else moment.hour * 60 + moment.minute


def hours(moment: int | None) -> str:
    """`14:30`, as a time field wants it."""
    return "" if moment is None else f"{moment // 60:02}:{moment % 60:02}"


def yes(value: str) -> bool:
    """Return whether a ticked box was sent."""
    if value.lower() not in {"1", "on", "yes", "true", "0", "off", "no", "false"}:
        raise Unreadable(f"'{value}' is neither yes nor no.")
    return value.lower() in {"1", "on", "yes", "true"}


def amount(value: str) -> Decimal:
    """One number of credits."""
    least, most = credits_of(value)
    if least != most:
        raise Unreadable(f"'{value}' is not one number of credits.")
    return least


BREAKS = re.compile(r"[\W_]+")
SearchTerm = tuple[str, ...]  # a word squeezed, then its parts, each after a space


def plain(text: str) -> str:
    """`text` in lower case without accents."""
    if text.isascii():
        return text.lower()
    parts = unicodedata.normalize("NFKD", text.casefold())
    return "".join(sign for sign in parts if not unicodedata.combining(sign))


def spellings(word: str) -> list[str]:
    """Return a word without punctuation (`csc225`) and the parts that punctuation splits."""
    parts = [part for part in BREAKS.split(word) if part]
    return ["".join(parts), *(parts if len(parts) > 1 else [])] if parts else []


def index(*texts: str) -> str:
    """Return all words of `texts`, each after a space, for `matches`."""
    found = dict.fromkeys(
        spelling for text in texts for word in plain(text).split() for spelling in spellings(word)
    )
    return " " + " ".join(found)


def matches(search_index: str, wanted: tuple[SearchTerm, ...]) -> bool:
    """Return whether each of `wanted` (see `terms`) begins some word of the index."""
    return all(begins(search_index, term) for term in wanted)


def begins(search_index: str, term: SearchTerm) -> bool:
    whole, *parts = term
    return whole in search_index or (bool(parts) and all(part in search_index for part in parts))


def correct_words(text: str, known: Sequence[str]) -> str:
    """Return the text with each unknown word replaced by the most similar known one.

    Blank if every word is known, or if an unknown one is short, has a digit or is like no other.
    """
    found, typed = [], ["".join(spellings(word)[:1]) for word in plain(text).split()]
    for word in typed:
        if any(each.startswith(word) for each in known):
            found.append(word)
            continue
        if len(word) < LEAST_CORRECTED or not word.isalpha():
            return ""
        best = process.extractOne(word, known, scorer=fuzz.ratio, score_cutoff=SIMILAR)
        if not best:
            return ""
        found.append(best[0])
    return "" if found == typed else " ".join(found)


def terms(query: str) -> tuple[SearchTerm, ...]:
    """Return a visitor's search text as words for `matches`."""
    spelled = (spellings(word) for word in plain(query).split())
    return tuple(tuple(f" {each}" for each in word) for word in spelled if word)
