"""Why nothing came of an import, or not all of it."""

from portal.core.i18n import StoredMessageError


class ImportFailedError(StoredMessageError):
    """Nothing was imported; the message names file, line and column where there are any."""


class SeatsLeftError(StoredMessageError):
    """All of an import was applied but seats of students, which an admin must see to."""
