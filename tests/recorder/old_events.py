"""Events with old times."""

import json
from typing import Any

from portal.backend import backend
from portal.core.checkpoints import checkpoint
from portal.ledger.function_library import prefix


def make_old(term: int, hours: int) -> None:
    """Change unrecorded events so that they were decided that long ago."""
    journal, redis = f"{prefix(term)}:journal", backend().redis
    entries: Any = redis.xrange(journal)
    redis.delete(journal)
    for name, fields in entries:
        result = json.loads(fields[b"event"])
        if int(name.split(b"-")[0]) > checkpoint(term):
            result["at"] -= hours * 3_600_000
        redis.xadd(journal, {"event": json.dumps(result)}, id=name)
