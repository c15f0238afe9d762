"""Files that only their owner may read."""

import os
import stat


def owner_only(path: str, flags: int) -> int:
    """Open a file for its owner only, as an `opener` for `open`."""
    descriptor = os.open(path, flags, 0o600)
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.fchmod(descriptor, 0o600)
    return descriptor
