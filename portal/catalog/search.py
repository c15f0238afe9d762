"""Words to search by: case, accents and punctuation don't matter, beginnings of words do."""

import re
import unicodedata

BREAKS = re.compile(r"[\W_]+")


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


def matches(words: str, wanted: tuple[str, ...]) -> bool:
    """Whether each of `wanted` (see `terms`) begins some word of the index `words`."""
    return all(begins(words, term) for term in wanted)


def begins(words: str, term: str) -> bool:
    whole, *parts = spellings(term)
    return f" {whole}" in words or (bool(parts) and all(f" {part}" in words for part in parts))


def terms(query: str) -> tuple[str, ...]:
    """What a visitor typed, as words for `matches`."""
    return tuple(word for word in plain(query).split() if spellings(word))
