"""Days of the week as a mask, Monday 1 … Sunday 64: `MWF`, `TTh`, `Tu Th`, `M-W-F`, `Mon Wed`.

In single letters R is Thursday, S Saturday and U Sunday.
"""

import re
from functools import cache, lru_cache

from portal.catalog.spellings.text import Unreadable, says_nothing, tidy
from portal.core.i18n import _k

NAMES = ("MONDAY", "TUESDAY", "WEDNESDAY", "THURSDAY", "FRIDAY", "SATURDAY", "SUNDAY")
LETTERS = "MTWRFSU"
NONE = {"ONLINE", "ASYNC", "ASYNCHRONOUS"}
WEEKDAYS = 0b11111
RANGES = {"M-F", "MO-FR", "MON-FRI", "MONDAY-FRIDAY", "DAILY", "WEEKDAYS"}
BREAKS = re.compile(r"[\s,;/&+.\-]+|\band\b", re.IGNORECASE)
CAPITALS = re.compile(r"(?=[A-Z][a-z])|(?<=[a-z])(?=[A-Z])")

# What a reading costs, by the length of the spelling: a name beats letters, letters beat pairs.
NAME, LETTER, PAIR = 1, 2, 5
OUT_OF_ORDER = 100
HOPELESS = 10_000


def days_of(text: str) -> int:
    """The days that `text` names; 0 where it names none (blank, `TBA`, `online`)."""
    tidied = tidy(text)
    if says_nothing(tidied) or tidied.upper() in NONE:
        return 0
    if tidied.upper().replace(" ", "") in RANGES:
        return WEEKDAYS
    words = tuple(whole(word) for word in BREAKS.split(CAPITALS.sub(" ", tidied)) if word)
    cost, days = cheapest(words, 0, -1)
    if cost >= HOPELESS or not days:
        raise Unreadable(_k("'%(text)s' names no days."), text=tidied)
    return sum(1 << day for day in set(days))


def whole(word: str) -> str:
    """`word` in capitals; `Su` as `SUN`, since its small letter says that it's one day."""
    pairs = {name[:2].title(): name[:3] for name in NAMES}
    return pairs.get(word, word.upper())


@cache
def spelled() -> dict[str, tuple[int, int]]:
    """Every spelling of a day → (day, cost)."""
    found = {
        name[:length]: (day, NAME)
        for day, name in enumerate(NAMES)
        for length in range(3, len(name) + 1)
    }
    found |= {name[:2]: (day, PAIR) for day, name in enumerate(NAMES)}
    found |= {letter: (day, LETTER) for day, letter in enumerate(LETTERS)}
    # Alone, "TU" is Tuesday far more often than Tuesday and Sunday.
    found["TU"] = (1, 2 * LETTER - 1)
    return found


@lru_cache(maxsize=4096)
def cheapest(words: tuple[str, ...], at: int, last: int) -> tuple[int, tuple[int, ...]]:
    """The best reading of `words` from sign `at` of the first, `last` the day before it."""
    if not words:
        return 0, ()
    if at == len(words[0]):
        return cheapest(words[1:], 0, last)
    best: tuple[int, tuple[int, ...]] = (HOPELESS, ())
    for spelling, (day, cost) in spelled().items():
        if not words[0].startswith(spelling, at):
            continue
        rest, days = cheapest(words, at + len(spelling), day)
        total = cost + rest + (OUT_OF_ORDER if day <= last else 0)
        best = min(best, (total, (day, *days)))
    return best
