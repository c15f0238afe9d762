"""When each page looks whether its browser is there, and its session good: once a minute."""

from collections.abc import Collection, Iterable
from threading import Event

from portal.live.page import Page

EVERY = 60  # seconds


class Looks:
    """Takes the pages by turns, so that not all look at once: a timer for each would take a KB."""

    def __init__(self) -> None:
        self._second = 0

    def go_on_forever(self, pages: Collection[Page], ended: Event) -> None:
        """Once a second, in a thread that waits for nothing else."""
        while not ended.wait(1.0):
            self.go_on(list(pages))

    def go_on(self, pages: Iterable[Page]) -> None:
        """Have those look whose turn it is in this second; one that is new has its first later."""
        self._second = (self._second + 1) % EVERY
        for page in pages:
            if page.turn == self._second:
                page.look()
            elif page.turn < 0:
                page.turn = self._second
