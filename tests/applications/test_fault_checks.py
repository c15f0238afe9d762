"""The checks after a fault find what an application lacks, and what it has twice."""

from sqlalchemy import delete, func, select

from portal.applications import service
from portal.applications.models import ApplicationEntry
from portal.catalog.models import Section
from portal.core.db import transaction
from portal.recorder.event_log import read_events
from portal.recorder.models import LoggedEvent
from portal.recorder.recorder import drain
from tests.applications.stories import an_application, decider
from tests.cast import Cast
from tests.faults.applicants import Applicant
from tests.faults.application_checks import judge
from tests.faults.checker import Verdict
from tests.faults.client import Student


def judged(application: int, section: Section) -> Verdict:
    with transaction() as session:
        last = session.scalar(select(func.max(LoggedEvent.seq))) or 0
        log = list(read_events(session, section.term_id, 0, last))
    verdict = Verdict()
    judge([Applicant(Student("", "ada"), section.id, application, sent=True)], log, verdict)
    return verdict


def test_a_lost_and_a_doubled_step_of_an_application_are_found(free: Section, cast: Cast) -> None:
    made = an_application("late_add", cast.ada, free)
    service.approve(made, decider(made, cast.max.id))
    lost = judged(made, free).lost  # the ledger's event is not recorded yet
    assert lost == [f"application {made} lacks 1 of enrollment"]
    drain(free.term_id, seconds=0)
    assert judged(made, free).clean
    with transaction() as session:
        session.execute(delete(ApplicationEntry).where(ApplicationEntry.action == "done"))
        session.add(ApplicationEntry(application_id=made, action="approve"))
    verdict = judged(made, free)
    assert verdict.lost == [f"application {made} lacks 1 of history done"]
    assert verdict.twice == [f"application {made} has 1 of history approve too many"]
