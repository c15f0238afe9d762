"""Jobs of the queue `promote`."""

from rq import get_current_job

from portal.record import promote as promoter


def promote(term: int) -> None:
    """Give the free seats of a term to those who wait."""
    job = get_current_job()
    promoter.promote(term, correlation=f"job:{job.id}" if job else "")
