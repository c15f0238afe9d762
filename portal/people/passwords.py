"""Passwords: Argon2id at OWASP's minimum, because thousands of students log in within a minute."""

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
MAX_HASHES = 300  # of a process, under way or waiting: about 8 s of work
MIN_SCORE = 3  # of zxcvbn's 0 to 4: at least a hundred million guesses
SCORED_LENGTH = 72  # characters; the rest makes no password worse

_hasher = PasswordHasher(time_cost=2, memory_cost=19456, parallelism=1)


class TooManyError(RuntimeError):
    """Too many logins at once."""


def hash_password(password: str) -> str:
    """Return the hash to store; raises TooManyError."""
    return _in_thread(lambda: _hasher.hash(password))


def verify(stored: str, password: str) -> bool:
    """Return whether the password has the stored hash; equally slow without a stored hash."""
    return _in_thread(lambda: _matches(stored or _decoy(), password)) and bool(stored)


def outdated(stored: str) -> bool:
    """Return whether the hash was made with other parameters than today's."""
    return _hasher.check_needs_rehash(stored)


def weakness(password: str, about: Sequence[str]) -> str:
    """Return why the password is too weak for a person with these names; empty if it is not."""
    if len(password) < SHORTEST:
        return _("Use at least %(least)s characters.", least=SHORTEST)
    if len(password) > LONGEST:
        return _("Use at most %(most)s characters.", most=LONGEST)
    if _score(password, about) < MIN_SCORE:
        return _(
            "This password is easy to guess: it is common, or based on names, dates or"
            " patterns. Try four unrelated words."
        )
    return ""


def _score(password: str, about: Sequence[str]) -> int:
    from zxcvbn import zxcvbn  # noqa: PLC0415  its word lists take 15 MB and are seldom needed

    words = [word for name in about for word in (name, *name.split())]
    return int(zxcvbn(password[:SCORED_LENGTH], words)["score"])


def _matches(stored: str, password: str) -> bool:
    # Catch errors inside the thread: gevent prints a traceback for whatever a thread raises.
    try:
        return _hasher.verify(stored, password)
    except (VerificationError, InvalidHashError):
        return False


@cache
def _decoy() -> str:
    return _hasher.hash(os.urandom(16))


def _in_thread(work: Callable[[], Result]) -> Result:
    """Run `work` in a thread if there is an event loop, so that other requests go on.

    Raises TooManyError.
    """
    if not is_module_patched("threading"):
        return work()
    if not _slots().acquire(blocking=False):
        raise TooManyError
    try:
        result: Result = _pool().apply(work)
    finally:
        _slots().release()
    return result


@cache
def _pool() -> ThreadPool:
    """Return a pool with a thread for each core that no other web process of the node uses."""
    cores = os.cpu_count() or 1
    processes = int(os.environ.get("WEB_CONCURRENCY") or 0) or cores
    return ThreadPool(max(1, cores // processes))


@cache
def _slots() -> BoundedSemaphore:
    return BoundedSemaphore(MAX_HASHES)
