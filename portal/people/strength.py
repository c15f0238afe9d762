"""Whether a password is good enough to be chosen: by length and by how soon it would be guessed."""

from collections.abc import Sequence

from portal.core.i18n import _
from portal.people.passwords import LONGEST, SHORTEST

GUESSED = 3  # of zxcvbn's scores, 0 to 4: at least a hundred million guesses
LOOKED_AT = 72  # characters; what comes after makes no password worse


def objection(password: str, about: Sequence[str]) -> str:
    """What speaks against a password of someone with these names; blank where nothing does."""
    if len(password) < SHORTEST:
        return _("A password has at least %(least)s characters.", least=SHORTEST)
    if len(password) > LONGEST:
        return _("A password has at most %(most)s characters.", most=LONGEST)
    if _score(password, about) < GUESSED:
        return _(
            "This would be guessed soon: it is often used, or made of names, dates or patterns."
            " Four words that have nothing to do with each other are hard to guess and easy to"
            " remember."
        )
    return ""


def _score(password: str, about: Sequence[str]) -> int:
    from zxcvbn import zxcvbn  # noqa: PLC0415  its lists of words are 15 MB, and seldom needed

    words = [word for name in about for word in (name, *name.split())]
    return int(zxcvbn(password[:LOOKED_AT], words)["score"])
