"""How universities write times, days, dates, codes and credits, read into plain values.

Each `…_of` function takes the text of one field and raises `Unreadable` where it can't be read.
"""

import re
import unicodedata
from datetime import date, time
from decimal import Decimal
from functools import cache, lru_cache

from portal.core.i18n import StoredMessageError, _k

# As systems write whether a section needs consent; PeopleSoft has I for the instructor's.
YES = {"Y", "YES", "TRUE", "1", "X", "I", "INSTRUCTOR", "INSTRUCTOR CONSENT REQUIRED"}
NO = {"", "N", "NO", "FALSE", "0", "NONE", "NO CONSENT", "NO SPECIAL CONSENT REQUIRED"}
NOTHING = {"", "-", "--", "N/A", "NA", "NONE", "TBA", "TBD", "TO BE ANNOUNCED", "ARR", "ARRANGED"}
LONGEST_TEXT = 60
DASHES = re.compile(r"[\u2010-\u2015\u2212]")


class Unreadable(StoredMessageError, ValueError):
    """A field has an invalid text; the message is for the import's report."""


class Unclear(ValueError):
    """A text of a form makes no sense; the message is for the person who wrote it."""


def tidy(text: str) -> str:
    """`text` in plain signs (no full-width digits, no odd dashes), single-spaced."""
    plain = unicodedata.normalize("NFKC", text)
    tidied = " ".join(DASHES.sub("-", plain).split())
    if len(tidied) > LONGEST_TEXT:
        raise Unreadable(_k("“%(text)s…” is too long."), text=tidied[:LONGEST_TEXT])
    return tidied


def says_nothing(tidied: str) -> bool:
    """Return whether a field says that nothing is settled: blank, `TBA`, `** TBA **`, `n/a`."""
    return tidied.strip("* ").upper() in NOTHING


SUBJECT = r"[^\W\d_](?:[^\W\d_]|&|/|(?<=[^\W\d_])[ -](?=[^\W\d_]))*"
CODE = re.compile(rf"(?P<subject>{SUBJECT}?)[\s\-_.*:]*(?P<number>\d[\w.]*)")
CODE_WITH_LETTERS = re.compile(
    rf"(?P<subject>{SUBJECT})[\s\-_.*:]+(?P<number>[A-Z]{{1,3}}\d[\w.]*)"
)
LONGEST_CODE = 24
LONGEST_SUBJECT = 16


def code_of(text: str) -> str:
    """Return the canonical code, subject and number joined by a hyphen."""
    tidied = tidy(text).upper()
    found = CODE_WITH_LETTERS.fullmatch(tidied) or CODE.fullmatch(tidied)
    if not found or len(found["subject"]) > LONGEST_SUBJECT:
        raise Unreadable(_k("'%(text)s' is not a course code."), text=tidied)
    code = f"{found['subject']}-{found['number']}"
    if len(code) > LONGEST_CODE:
        raise Unreadable(_k("'%(text)s' is too long for a course code."), text=tidied)
    return code


def subject_of(code: str) -> str:
    """Return the subject of a canonical code: `CSC` of `CSC-225`, `ED-D` of `ED-D-301`."""
    return code.rpartition("-")[0]


CREDIT_UNIT = re.compile(r"\s*(?:credits?|credit hours?|cr|hrs?|hours?|units?)\.?$", re.IGNORECASE)
CREDIT_BREAKS = re.compile(r"\s*(?:\||-|/|,|\bto\b|\bor\b)\s*", re.IGNORECASE)
AMOUNT = re.compile(r"\d{1,3}(?:\.\d{1,3})?", re.ASCII)
MOST_CREDITS = Decimal(200)
HUNDREDTH = Decimal("0.01")


def credits_of(text: str) -> tuple[Decimal, Decimal]:
    """Return the least and the most credits in `text`; of several values the outermost."""
    tidied = tidy(text)
    parts = CREDIT_BREAKS.split(CREDIT_UNIT.sub("", tidied))
    if not all(AMOUNT.fullmatch(part) for part in parts):
        raise Unreadable(_k("'%(text)s' is not a number of credits."), text=tidied)
    amounts = sorted(Decimal(part) for part in parts)
    if amounts[-1] > MOST_CREDITS or any(amount % HUNDREDTH for amount in amounts):
        raise Unreadable(_k("'%(text)s' is not a number of credits."), text=tidied)
    return amounts[0], amounts[-1]


COUNT = re.compile(r"[+-]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.0+)?", re.ASCII)
MOST_PEOPLE = 1_000_000


def count_of(text: str) -> int | None:
    """Return the whole number in `text`, None without one."""
    tidied = tidy(text)
    if says_nothing(tidied):
        return None
    if not COUNT.fullmatch(tidied):
        raise Unreadable(_k("'%(text)s' is not a whole number."), text=tidied)
    number = int(tidied.replace(",", "").partition(".")[0])
    if abs(number) > MOST_PEOPLE:
        raise Unreadable(_k("'%(text)s' is too many for a section."), text=tidied)
    return number


DAY_NAMES = ("MONDAY", "TUESDAY", "WEDNESDAY", "THURSDAY", "FRIDAY", "SATURDAY", "SUNDAY")
DAY_LETTERS = "MTWRFSU"
NO_DAYS = {"ONLINE", "ASYNC", "ASYNCHRONOUS"}
WEEKDAYS = 0b11111
DAY_RANGES = {"M-F", "MO-FR", "MON-FRI", "MONDAY-FRIDAY", "DAILY", "WEEKDAYS"}
DAY_BREAKS = re.compile(r"[\s,;/&+.\-]+|\band\b", re.IGNORECASE)
CAPITALS = re.compile(r"(?=[A-Z][a-z])|(?<=[a-z])(?=[A-Z])")

# Costs of a reading, by the length of the spelling: a name beats letters, letters beat pairs.
NAME, LETTER, PAIR = 1, 2, 5
OUT_OF_ORDER = 100
HOPELESS = 10_000


def days_of(text: str) -> int:
    """Return the days that `text` names as a mask, Monday 1 … Sunday 64; 0 for none, as in `TBA`.

    In single letters R is Thursday, S Saturday and U Sunday: `MWF`, `TTh`, `Tu Th`, `M-W-F`.
    """
    tidied = tidy(text)
    if says_nothing(tidied) or tidied.upper() in NO_DAYS:
        return 0
    if tidied.upper().replace(" ", "") in DAY_RANGES:
        return WEEKDAYS
    words = tuple(_whole_word(word) for word in DAY_BREAKS.split(CAPITALS.sub(" ", tidied)) if word)
    cost, days = _cheapest_days(words, 0, -1)
    if cost >= HOPELESS or not days:
        raise Unreadable(_k("'%(text)s' is not a list of days."), text=tidied)
    return sum(1 << day for day in set(days))


def _whole_word(word: str) -> str:
    """`word` in capitals; `Su` as `SUN`, since its small letter says that it's one day."""
    pairs = {name[:2].title(): name[:3] for name in DAY_NAMES}
    return pairs.get(word, word.upper())


@cache
def _day_spellings() -> dict[str, tuple[int, int]]:
    """Every spelling of a day → (day, cost)."""
    found = {
        name[:length]: (day, NAME)
        for day, name in enumerate(DAY_NAMES)
        for length in range(3, len(name) + 1)
    }
    found |= {name[:2]: (day, PAIR) for day, name in enumerate(DAY_NAMES)}
    found |= {letter: (day, LETTER) for day, letter in enumerate(DAY_LETTERS)}
    # Alone, "TU" is Tuesday far more often than Tuesday and Sunday.
    found["TU"] = (1, 2 * LETTER - 1)
    return found


@lru_cache(maxsize=4096)
def _cheapest_days(words: tuple[str, ...], at: int, last: int) -> tuple[int, tuple[int, ...]]:
    """Return the best reading of `words` from sign `at` of the first, `last` the day before it."""
    if not words:
        return 0, ()
    if at == len(words[0]):
        return _cheapest_days(words[1:], 0, last)
    best: tuple[int, tuple[int, ...]] = (HOPELESS, ())
    for spelling, (day, cost) in _day_spellings().items():
        if not words[0].startswith(spelling, at):
            continue
        rest, days = _cheapest_days(words, at + len(spelling), day)
        total = cost + rest + (OUT_OF_ORDER if day <= last else 0)
        best = min(best, (total, (day, *days)))
    return best


MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
WEEKDAY = re.compile(r"(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*[.,]?\s+", re.IGNORECASE)
DATE_FORMS = (
    re.compile(r"(?P<year>\d{4})[-/.](?P<month>\d{1,2})[-/.](?P<day>\d{1,2})", re.ASCII),
    re.compile(r"(?P<year>\d{4})(?P<month>\d{2})(?P<day>\d{2})", re.ASCII),
    # Month first, as American systems write it; 13/01/2021 is refused, never guessed.
    re.compile(r"(?P<month>\d{1,2})[-/](?P<day>\d{1,2})[-/](?P<year>\d{4}|\d{2})", re.ASCII),
    re.compile(r"(?P<word>[a-z]{3,9})[. -]+(?P<day>\d{1,2})(?:st|nd|rd|th)?[, -]+(?P<year>\d{4})"),
    re.compile(
        r"(?P<day>\d{1,2})(?:st|nd|rd|th)?\.?[ -]*(?P<word>[a-z]{3,9})[.,]?[ -]*"
        r"(?P<year>\d{4}|\d{2})"
    ),
)
MIDNIGHT = re.compile(r"[T ]00:00(?::00(?:\.0+)?)?Z?$")


def date_of(text: str) -> date | None:
    """Return the date in `text`, None if it is to be announced."""
    tidied = tidy(text)
    if says_nothing(tidied):
        return None
    bare = WEEKDAY.sub("", MIDNIGHT.sub("", tidied), count=1).lower()
    for form in DATE_FORMS:
        if found := form.fullmatch(bare):
            return _date_of_parts(found.groupdict(), tidied)
    raise Unreadable(_k("'%(text)s' is not a date."), text=tidied)


def _date_of_parts(parts: dict[str, str], tidied: str) -> date:
    """Return the date of a form's parts, if it exists and a term could have it."""
    try:
        month = _month_of(parts["word"]) if "word" in parts else int(parts["month"])
        year = int(parts["year"]) + (2000 if len(parts["year"]) == 2 else 0)
        found = date(year, month, int(parts["day"]))
    except ValueError:
        raise Unreadable(
            _k("'%(text)s' is not a date. Write the month first: 12/31/2021."), text=tidied
        ) from None
    if not 1900 <= found.year <= 2200:
        raise Unreadable(_k("'%(text)s' is not a year of a term."), text=tidied)
    return found


def _month_of(word: str) -> int:
    """1 … 12 of `sept`, `September`; raises ValueError for other words."""
    month = MONTHS.index(word[:3]) + 1
    if not f"{date(2000, month, 1):%B}".lower().startswith(word) and word != "sept":
        raise ValueError(word)
    return month


CLOCK = re.compile(
    r"(?P<hour>\d{1,2})(?:[:.h](?P<minute>\d{2})(?::\d{2})?)?\s*(?P<half>[ap])?\.?(?:(?<=[ap.])m\.?)?",
    re.ASCII,
)
BARE_CLOCK = re.compile(
    r"(?P<hour>\d{1,2})(?P<minute>\d{2})\s*(?:(?P<half>[ap])\.?(?:m\.?)?)?", re.ASCII
)
NAMED_TIMES = {"noon": time(12), "midday": time(12), "midnight": time(0)}


def time_of(text: str) -> time | None:
    """Return the time in `text`, None if it is to be announced; 24 hours without am or pm."""
    tidied = tidy(text)
    if says_nothing(tidied):
        return None
    if named := NAMED_TIMES.get(tidied.lower()):
        return named
    found = BARE_CLOCK.fullmatch(tidied.lower()) or CLOCK.fullmatch(tidied.lower())
    if not found or not (found["minute"] or found["half"]):
        raise Unreadable(_k("'%(text)s' is not a time of day."), text=tidied)
    hour = _hour_of(int(found["hour"]), found["half"])
    minute = int(found["minute"] or 0)
    if hour is None or minute > 59:
        raise Unreadable(_k("'%(text)s' is not a time of day."), text=tidied)
    return time(hour, minute)


FIRST_HOUR = 7  # no class starts between 1:00 am and then


def start_of(text: str) -> time | None:
    """Return the time at which a class starts; `1:00` without am or pm can't be read."""
    found = time_of(text)
    if found and 1 <= found.hour < FIRST_HOUR and not re.search("[ap]", text, re.IGNORECASE):
        raise Unreadable(_k("'%(text)s' lacks am or pm."), text=tidy(text))
    return found


def _hour_of(hour: int, half: str | None) -> int | None:
    """Return the hour of 24; None if the clock has no such hour (`13 am`)."""
    if half is None or (half == "p" and hour > 12):
        return hour if hour < 24 else None
    if not 1 <= hour <= 12:
        return None
    return hour % 12 + (12 if half == "p" else 0)


def flag_of(text: str) -> bool | None:
    """Return whether a text says yes, None if it says neither yes nor no."""
    written = text.strip().upper()
    return written in YES if written in YES | NO else None
