"""Words to search by: case, accents and punctuation don't matter, beginnings of words do."""

import re
import unicodedata

BREAKS = re.compile(r"[\W_]+")
Term = tuple[str, ...]  # a word squeezed, then its parts, each after a space


def plain(text: str) -> str:
    """`text` in lower case without accents."""
    if text.isascii():
        return text.lower()
    parts = unicodedata.normalize("NFKD", text.casefold())
    return "".join(sign for sign in parts if not unicodedata.combining(sign))


def spellings(word: str) -> list[str]:
    """A word squeezed (`csc225`) and, where punctuation splits it, its parts."""
    parts = [part for part in BREAKS.split(word) if part]
    return ["".join(parts), *(parts if len(parts) > 1 else [])] if parts else []


def index(*texts: str) -> str:
    """All words of `texts`, each after a space, for `matches`."""
    found = dict.fromkeys(
        spelling for text in texts for word in plain(text).split() for spelling in spellings(word)
    )
    return " " + " ".join(found)


def matches(words: str, wanted: tuple[Term, ...]) -> bool:
    """Whether each of `wanted` (see `terms`) begins some word of the index `words`."""
    return all(begins(words, term) for term in wanted)


def begins(words: str, term: Term) -> bool:
    whole, *parts = term
    return whole in words or (bool(parts) and all(part in words for part in parts))


def terms(query: str) -> tuple[Term, ...]:
    """What a visitor typed, as words for `matches`."""
    spelled = (spellings(word) for word in plain(query).split())
    return tuple(tuple(f" {each}" for each in word) for word in spelled if word)
