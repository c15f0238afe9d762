"""Bare password verifications, on one thread per core as in a web process of the portal."""

import os
import time
from concurrent.futures import ThreadPoolExecutor

from portal.people import passwords

PASSWORD = "a seat for everyone"


def rate(tries: int) -> float:
    """Return verifications a second."""
    hashed = passwords.hash_password(PASSWORD)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        began = time.perf_counter()
        right = list(pool.map(lambda _: passwords.verify(hashed, PASSWORD), range(tries)))
        took = time.perf_counter() - began
    if not all(right):
        raise SystemExit("A correct password was not accepted.")
    return tries / took
