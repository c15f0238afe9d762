"""Events that were decided long ago."""

import json
from typing import Any

from portal.backend import backend
from portal.core.checkpoints import checkpoint
from portal.ledger.function_library import prefix


def make_old(term: int, hours: int) -> None:
    """Let what is not recorded yet seem to have been decided so long ago."""
    journal, redis = f"{prefix(term)}:journal", backend().redis
    entries: Any = redis.xrange(journal)
    redis.delete(journal)
    for name, fields in entries:
        told = json.loads(fields[b"event"])
        if int(name.split(b"-")[0]) > checkpoint(term):
            told["at"] -= hours * 3_600_000
        redis.xadd(journal, {"event": json.dumps(told)}, id=name)
