"""Passwords: Argon2id at OWASP's minimum, since thousands log in within one minute."""

import os
from collections.abc import Callable, Sequence
from functools import cache
from threading import BoundedSemaphore
from typing import TypeVar

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from gevent.monkey import is_module_patched
from gevent.threadpool import ThreadPool

from portal.core.i18n import _

Result = TypeVar("Result")

SHORTEST, LONGEST = 12, 1024  # characters
AT_ONCE = 300  # hashes of a process, made or waited for: some 8 s of work, a process a core

_hasher = PasswordHasher(time_cost=2, memory_cost=19456, parallelism=1)


class TooManyError(RuntimeError):
    """More want their passwords looked at than could be in a time that anyone waits."""


def hash_password(password: str) -> str:
    """The hash to keep of a password."""
    return _aside(lambda: _hasher.hash(password))


def verify(kept: str, password: str) -> bool:
    """Whether `password` is the one whose hash was kept; as slow where none was."""
    return _aside(lambda: _fits(kept or _nobodys(), password)) and bool(kept)


def outdated(kept: str) -> bool:
    """Whether a hash was made with other parameters than today's."""
    return _hasher.check_needs_rehash(kept)


def _fits(kept: str, password: str) -> bool:
    # Within the thread: gevent writes a traceback for whatever a thread raises.
    try:
        return _hasher.verify(kept, password)
    except (VerificationError, InvalidHashError):
        return False


@cache
def _nobodys() -> str:
    return _hasher.hash(os.urandom(16))


def _aside(work: Callable[[], Result]) -> Result:
    """Run `work` beside the event loop, where there is one, so that nobody else waits for it.

    Raises TooManyError.
    """
    if not is_module_patched("threading"):
        return work()
    if not _places().acquire(blocking=False):
        raise TooManyError
    try:
        result: Result = _pool().apply(work)
    finally:
        _places().release()
    return result


@cache
def _pool() -> ThreadPool:
    """A thread for each core that no other process of the node has: more take memory and time."""
    cores = os.cpu_count() or 1
    processes = int(os.environ.get("WEB_CONCURRENCY") or 0) or cores
    return ThreadPool(max(1, cores // processes))


@cache
def _places() -> BoundedSemaphore:
    return BoundedSemaphore(AT_ONCE)


# Whether a password is good enough to be chosen: by length and by how soon it would be guessed.

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
