"""Claims for one section, decided by the ledger alone and by a row lock alone, without the web."""

import os
import re
import secrets
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from sqlalchemy import make_url

from bench import saturated
from bench.baselines import row_lock
from bench.saturated import packed
from portal.backend import backend
from portal.ledger.function_library import encode, prefix
from portal.runtime.embedded_postgres import binary

CREDITS, LIMIT = 300, 6000  # hundredths
RATE = re.compile(r"tps = ([\d.]+)")
CONNECTIONS = 40  # the pools of two web processes together
WELL = (b'"enrolled"', b'"waitlisted"')


def by_ledger(term: int, section: int, students: Sequence[int]) -> float:
    """Return claims a second decided by the ledger, with one claim per student."""
    [window] = backend().ledger.windows(term)
    asks = [_ask(term, section, window.id, student) for student in students]
    path = backend().redis.connection_pool.connection_kwargs["path"]
    began = time.perf_counter()
    replies = saturated.replies(path, asks, 0)
    rate = len(asks) / (time.perf_counter() - began)
    if not all(any(well in reply for well in WELL) for reply in replies):
        raise SystemExit("A claim got neither a seat nor a waitlist position.")
    return rate


def by_row_lock(section: int, claims: int) -> float:
    """Return claims a second decided by a row lock, as measured by pgbench."""
    each = claims // CONNECTIONS
    url = make_url(backend().settings.database_url)
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "claim.sql"
        script.write_text(row_lock.SCRIPT.format(section=section))
        completed = subprocess.run(
            [
                *(binary("pgbench"), "--no-vacuum", "--protocol=prepared"),
                *(f"--client={CONNECTIONS}", f"--transactions={each}"),
                *("--define=turn=0", f"--file={script}"),
                *(f"--host={url.query['host']}", f"--username={url.username}", url.database or ""),
            ],
            env={**os.environ, "PGPASSWORD": url.password or ""},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
    found = RATE.search(completed)
    if not found or "failed transactions: 0 " not in completed:
        raise SystemExit(f"The row lock did not decide: {completed}")
    return float(found[1])


def _ask(term: int, section: int, window: int, student: int) -> bytes:
    ask = {
        "student": student,
        "idempotency_key": secrets.token_hex(16),
        "credit_limit": LIMIT,
        "windows": [window],
        "choices": [{"alternatives": [[{"section": section, "credits": CREDITS}]], "wait": True}],
        "actor": f"account:{student}",
        "correlation": "bench",
    }
    at = prefix(term).encode()
    return packed(b"FCALL", b"fairseat_submit", b"1", at, encode(ask).encode())
