"""Bars: the values that figures must reach, each relative to its baseline in the same run."""

import operator
from dataclasses import dataclass


@dataclass(frozen=True)
class Bar:
    """A lower bound, or with `most` an upper bound."""

    value: float
    most: bool = False

    def reached(self, value: float) -> bool:
        """Return whether a value reaches the bar."""
        return (operator.le if self.most else operator.ge)(value, self.value)

    def __str__(self) -> str:
        return f"{'≤' if self.most else '≥'} {self.value:g}"


BARS = {
    "claim_vs_hello": Bar(0.2),
    "claim_web_vs_hello": Bar(5, most=True),
    "claim_took_ledger_us": Bar(120, most=True),
    "claim_vs_row_lock": Bar(3),
    "claim_p99_vs_row_lock": Bar(0.2, most=True),
    "claim_small_us": Bar(80, most=True),
    "picker_vs_hello": Bar(0.12),
    "search_vs_hello": Bar(0.15),
    "lobby_vs_hello": Bar(0.12),
    "login_vs_argon2": Bar(0.8),
    "record_vs_raw": Bar(0.6),
    "record_vs_job_per_claim": Bar(20),
    "lag_p99_s": Bar(1, most=True),
    "fanout_vs_bare": Bar(0.7),
    "push_p99_s": Bar(1, most=True),
    "socket_kb": Bar(1.25, most=True),
    "submission_p99_ms": Bar(500, most=True),
    "scale_claim": Bar(1.2, most=True),
    "scale_promote": Bar(1.2, most=True),
    "rush_answered": Bar(1),
    "rush_oversold": Bar(0, most=True),
    "rush_unrecorded": Bar(0, most=True),
    "rush_p99_vs_hello": Bar(2, most=True),
    "rush_claim_p99_ms": Bar(1473, most=True),
    "rush_claim_vs_leisure": Bar(10, most=True),
    "allocation_draft_s": Bar(5, most=True),
    "allocation_serial_s": Bar(5, most=True),
    "allocation_deferred_s": Bar(5, most=True),
    "allocation_mb": Bar(1024, most=True),
    "round_give_s": Bar(60, most=True),
}
