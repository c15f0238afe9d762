"""The ledger's Python face for selection windows: when it may be asked for seats at all."""

from typing import Any

from redis import Redis

from portal.seats import replies
from portal.seats.answers import Change, WindowView
from portal.seats.library import Library, prefix, reached

Times = tuple[int, int]  # when a window opens and closes (ms)


class LedgerWindows:
    """The part of the Ledger that keeps the windows.

    A change may say what times the window had when it was decided on (`was`): one that has other
    times by now is left as it is.
    """

    redis: Redis
    library: Library

    def windows(self, term: int) -> list[WindowView]:
        """Every window of a term, by opening."""
        with reached():
            return replies.windows(self.redis.hgetall(f"{prefix(term)}:windows"))

    def put_window(
        self,
        term: int,
        window: int,
        name: str,
        opens: int,
        closes: int,
        cohort: dict[str, Any],
        actor: str,
        *,
        recorded: int = 0,
    ) -> Change:
        """Schedule a new window; `closes` is the first ms that is too late.

        Raises LedgerBehind where the ledger has not come as far as event `recorded`.
        """
        facts = {"name": name, "opens": opens, "closes": closes, "cohort": cohort}
        return self._window("put_window", term, window, actor, **facts, recorded=recorded)

    def move_window(
        self, term: int, window: int, opens: int, closes: int, actor: str, was: Times | None = None
    ) -> Change:
        """Give a window that has not begun other times."""
        return self._window("move_window", term, window, actor, opens=opens, closes=closes, was=was)

    def cancel_window(self, term: int, window: int, actor: str, was: Times | None = None) -> Change:
        """Call off a window that has not begun."""
        return self._window("cancel_window", term, window, actor, was=was)

    def extend_window(
        self, term: int, window: int, closes: int, actor: str, was: Times | None = None
    ) -> Change:
        """Let a running window close later."""
        return self._window("extend_window", term, window, actor, closes=closes, was=was)

    def close_window(self, term: int, window: int, actor: str, was: Times | None = None) -> Change:
        """Close a running window now."""
        return self._window("close_window", term, window, actor, was=was)

    def _window(self, op: str, term: int, window: int, actor: str, **payload: Any) -> Change:
        return replies.change(
            self.library.ask(op, term, {"window": window, "actor": actor, **payload})
        )

    def turn(self, term: int) -> list[tuple[int, str]]:
        """Windows that have opened or closed since it was last asked, each told once."""
        reply = self.library.ask("turn", term, {})
        return [(window, turned) for window, turned in reply.get("turned") or ()]
