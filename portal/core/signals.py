"""Signals: how a lower package lets upper ones know of something without importing them."""

from collections.abc import Callable
from typing import Generic, ParamSpec

Arguments = ParamSpec("Arguments")


class Signal(Generic[Arguments]):
    """Something that happens; portal/subscribers.py lists who hears of it.

    Subscribers run at once and in order. Where the sender gives its session, they take part in its
    transaction, so an error of theirs undoes all of it.
    """

    def __init__(self) -> None:
        self._subscribers: list[Callable[Arguments, object]] = []

    def subscribe(self, subscriber: Callable[Arguments, object]) -> None:
        """Call the subscriber whenever this is sent; subscribing twice does no harm."""
        if subscriber not in self._subscribers:
            self._subscribers.append(subscriber)

    def send(self, *args: Arguments.args, **kwargs: Arguments.kwargs) -> None:
        """Call every subscriber."""
        for subscriber in self._subscribers:
            subscriber(*args, **kwargs)
