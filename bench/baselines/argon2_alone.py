"""Passwords verified and nothing else: a thread a core, as in a web process of the portal."""

import os
import time
from concurrent.futures import ThreadPoolExecutor

from portal.people import passwords

PASSWORD = "a seat for everyone"


def rate(tries: int) -> float:
    """Verifications a second."""
    kept = passwords.hash_password(PASSWORD)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        began = time.perf_counter()
        right = list(pool.map(lambda _: passwords.verify(kept, PASSWORD), range(tries)))
        took = time.perf_counter() - began
    if not all(right):
        raise SystemExit("A password was not known again.")
    return tries / took
