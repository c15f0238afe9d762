"""The checks after a fault find what an application lacks, and what it has twice."""

import pytest
from sqlalchemy import delete, func, select

from portal.applications import service
from portal.applications.models import ApplicationEntry
from portal.catalog.models import Section
from portal.core.db import transaction
from portal.people.models import Account
from portal.recorder.event_log import read_events
from portal.recorder.models import LoggedEvent
from portal.recorder.recorder import drain
from tests.applications.stories import a_visiting_application, an_application, charges, decider
from tests.applications.stripe_api import Account as Provider
from tests.cast import Cast
from tests.faults.applicants import Applicant
from tests.faults.application_checks import judge
from tests.faults.checker import Verdict
from tests.faults.client import Student


def judged(application: int, section: Section) -> Verdict:
    return judged_as(Applicant(Student("", "ada"), section.id, application, sent=True), section)


def judged_as(applicant: Applicant, section: Section) -> Verdict:
    with transaction() as session:
        last = session.scalar(select(func.max(LoggedEvent.seq))) or 0
        log = list(read_events(session, section.term_id, 0, last))
    verdict = Verdict()
    judge([applicant], log, verdict)
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


@pytest.mark.usefixtures("paying")
def test_a_lost_document_and_a_second_charge_of_the_provider_are_found(
    free: Section, cast: Cast, vera: Account, mia: Account
) -> None:
    made = a_visiting_application(vera, free.term_id)
    for admin in (cast.max, mia):
        service.approve(made, decider(made, admin.id))
    [charge] = charges(made)
    checkout = {"client_reference_id": str(charge.id)}
    provider = Provider(sessions={"cs_1": checkout})
    visitor = Applicant(Student("", "vera"), None, made, sent=True, provider=provider, kept=True)
    assert judged_as(visitor, free).clean
    provider.sessions["cs_2"], visitor.kept = checkout, False
    verdict = judged_as(visitor, free)
    assert verdict.lost == [f"application {made} lacks 1 of kept document"]
    assert verdict.twice == [f"application {made} has 1 of charge of the provider too many"]
