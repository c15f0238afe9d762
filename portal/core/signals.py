"""Signals: a lower package informs upper ones without importing them."""

from collections.abc import Callable
from typing import Any, Generic, ParamSpec

Arguments = ParamSpec("Arguments")


class Signal(Generic[Arguments]):
    """Something that happens; portal/subscribers.py lists the subscribers.

    Subscribers run at once and in order. If the sender passes its session, they take part in its
    transaction, so an error in a subscriber rolls everything back.
    """

    def __init__(self) -> None:
        self.subscribers: list[Callable[Arguments, object]] = []

    def subscribe(self, subscriber: Callable[Arguments, object]) -> None:
        """Call the subscriber whenever this is sent; subscribing twice does no harm."""
        if subscriber not in self.subscribers:
            self.subscribers.append(subscriber)

    def send(self, *args: Arguments.args, **kwargs: Arguments.kwargs) -> list[Any]:
        """Call every subscriber, and return what they return."""
        return [subscriber(*args, **kwargs) for subscriber in self.subscribers]
