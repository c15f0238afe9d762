"""The limits of the workers of each queue, on each machine."""

import os
import re
from dataclasses import dataclass, replace

from portal.core.settings import SettingsError


@dataclass(frozen=True)
class Pool:
    """The limits of a queue's workers, and the waiting jobs that add one worker."""

    least: int
    most: int
    up_at: int


PART = re.compile(r"(\w+)=(\d+)-(\d+)@(\d+)")
POOLS = {
    "record": Pool(2, 10, 50),
    "promote": Pool(3, 15, 30),
    "notify": Pool(2, 8, 100),
    "maintain": Pool(1, 2, 50),
    "documents": Pool(1, 5, 5),
    "charges": Pool(1, 4, 5),
    "background": Pool(2, 4, 10),
}
LARGE = 8  # cores: a smaller machine has fewer workers
SMALL = {"promote": 1, "notify": 1}  # minimum workers on a small one


def pools(text: str = "", cores: int = os.cpu_count() or 1) -> dict[str, Pool]:
    """Return the limits, as in `record=2-10@50 promote=3-15@30`; defaults suit the machine.

    Raises SettingsError.
    """
    found = {name: _fitted(name, cores) for name in POOLS}
    for part in text.replace(",", " ").split():
        match = PART.fullmatch(part)
        if not match or match[1] not in POOLS or not 0 < int(match[2]) <= int(match[3]):
            raise SettingsError(f"FAIRSEAT_WORKERS: write {part} like record=2-10@50.")
        found[match[1]] = Pool(int(match[2]), int(match[3]), max(1, int(match[4])))
    return found


def _fitted(name: str, cores: int) -> Pool:
    pool = POOLS[name]
    if cores >= LARGE:
        return pool
    least = SMALL.get(name, pool.least)
    return replace(pool, least=least, most=min(pool.most, least + cores // 2))
