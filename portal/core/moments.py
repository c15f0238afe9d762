"""Times in the ledger's unit: milliseconds since 1970, in UTC."""

from datetime import UTC, datetime, timedelta

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MILLISECOND = timedelta(milliseconds=1)


def moment(milliseconds: int) -> datetime:
    """Return the moment so many milliseconds after 1970 began."""
    return EPOCH + milliseconds * MILLISECOND


def milliseconds(moment: datetime) -> int:
    """Return a moment's milliseconds since 1970."""
    return (moment - EPOCH) // MILLISECOND
