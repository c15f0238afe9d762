"""The ledger's errors; callers turn them into a clear page or API problem."""

from portal.core.outage import Unavailable


class LedgerUnavailable(Unavailable):
    """The ledger did not answer; nothing was decided, except with LedgerSilent."""


class LedgerSilent(LedgerUnavailable):
    """A decision was requested and no answer came: whether it was made is unknown."""


class LedgerBehind(Exception):
    """The ledger has fewer events than PostgreSQL has recorded; restore it first."""


class KeyReused(Exception):
    """The idempotency key was used before for something else."""


class NotAdmitted(Exception):
    """The waiting room no longer admits the student: nothing was decided."""


class RateLimited(Exception):
    """The student's requests are over the rate limit, for `wait` ms: nothing was decided."""

    def __init__(self, wait: int) -> None:
        super().__init__(wait)
        self.wait = wait


class WindowRefused(Exception):
    """A change to a window that its state forbids: `code`, and `at`, the ledger's time in ms.

    Codes: already_open, already_ended, not_open, canceled, times_crossed, in_the_past, unknown,
    exists, changed; `archived` and `round` come from `windows.service`.
    """

    def __init__(self, code: str, at: int = 0) -> None:
        super().__init__(code)
        self.code = code
        self.at = at
