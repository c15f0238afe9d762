"""Waiting rooms go on by themselves, and begin at the very moment of their opening."""

from collections.abc import Iterable

from portal.gate import room

LONGEST = 1.0  # seconds between two calls


def attend(terms: Iterable[int]) -> float:
    """Call in whose turn it is, in every room of the terms; gives the seconds until the next time.

    Doing it twice does no harm, so nobody needs the right to it.
    """
    openings = [room.attend(term) for term in terms]
    return min([LONGEST, *(seconds for seconds in openings if seconds is not None)])
