"""Jobs of the queue `documents`."""

from portal.applications import documents


def check(_term: int) -> None:
    """Check the documents of applications that are due."""
    documents.check_due()
