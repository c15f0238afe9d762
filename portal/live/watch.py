"""How the portal runs, for admins who watch; drawn by their pages, which come above this room."""

from collections.abc import Callable, Collection
from threading import Lock

from portal.live import topics
from portal.live.listening import Topics
from portal.live.page import Batch, Page

Fragments = dict[str, str]  # HTML by element id
Draw = Callable[[Collection[str]], dict[str, Fragments]]  # in these languages, by language

_draw: list[Draw] = []


def drawn_by(draw: Draw) -> None:
    """Take `draw` as what looks at everything, once, and draws it."""
    _draw[:] = [draw]


class Watch:
    """The pages of this process that watch; `lock` guards their topics. Asks only if any does."""

    def __init__(self, listening: Topics, lock: Lock) -> None:
        self._topics = listening
        self._lock = lock
        self._told: dict[Page, Fragments] = {}

    def fragments(self, language: str) -> str:
        """Everything as it is now."""
        return "".join(_draw[0]([language])[language].values())

    def tell(self) -> None:
        """Send each page what has changed since it was last told."""
        with self._lock:
            pages = list(self._topics.of(topics.operations()))
        self._told = {page: told for page, told in self._told.items() if page in pages}
        if not pages:
            return
        drawn = _draw[0]({page.language for page in pages})
        for page in pages:
            known, now = self._told.get(page, {}), drawn[page.language]
            news = {name: html for name, html in now.items() if known.get(name) != html}
            if news:
                page.show(Batch(news))
            self._told[page] = now
