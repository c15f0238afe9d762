"""The column that a list is sorted by, as its address says: `sort=name&order=down`."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Sorting:
    """One of the columns `keys`; the first is the default."""

    keys: tuple[str, ...]
    key: str
    down: bool = False
    starts_down: bool = False  # whether the default is the reverse order, such as the newest first

    @classmethod
    def parse(
        cls, keys: Collection[str], args: Mapping[str, str], *, starts_down: bool = False
    ) -> "Sorting":
        """Return the order that an address asks for; the default if it names no column."""
        known, key = tuple(keys), args.get("sort", "")
        if key not in known:
            return cls(known, known[0], starts_down, starts_down)
        return cls(known, key, args.get("order") == "down", starts_down)

    def args(self) -> dict[str, str]:
        """Return the arguments of its address."""
        if (self.key, self.down) == (self.keys[0], self.starts_down):
            return {}
        return {"sort": self.key, "order": "down" if self.down else "up"}

    def by(self, key: str) -> "Sorting":
        """Return the order by a column; in reverse if the list is sorted by it already."""
        return replace(self, key=key, down=key == self.key and not self.down)

    def direction(self, key: str) -> str:
        """Return the value of `aria-sort` for a column; blank if the list is not sorted by it."""
        return ("descending" if self.down else "ascending") if key == self.key else ""
