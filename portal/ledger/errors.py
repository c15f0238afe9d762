"""What the ledger raises: for callers to turn into a clear page or problem."""

from portal.core.outage import Unavailable


class LedgerUnavailable(Unavailable):
    """The ledger could not be asked; nothing was decided, unless it is a LedgerSilent."""


class LedgerSilent(LedgerUnavailable):
    """It was asked for a decision and no answer came: whether it decided is unknown."""


class LedgerBehind(Exception):  # noqa: N818
    """The ledger knows less than PostgreSQL has recorded of it: restore it before it decides."""


class KeyReused(Exception):  # noqa: N818
    """The request key was used before for something else."""


class NotAdmitted(Exception):  # noqa: N818
    """The waiting room no longer lets the student in: nothing was decided."""


class WindowRefused(Exception):  # noqa: N818
    """A change to a window that its state forbids, by `code`, `at` the ledger's time in ms.

    Codes: already_open, already_ended, not_open, canceled, times_crossed, in_the_past, unknown,
    exists, changed.
    """

    def __init__(self, code: str, at: int = 0) -> None:
        super().__init__(code)
        self.code = code
        self.at = at
