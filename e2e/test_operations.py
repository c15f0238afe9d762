"""An admin watches how the portal runs, and deals with what went wrong."""

from playwright.sync_api import Locator, expect
from rq import Queue
from rq.serializers import JSONSerializer
from sqlalchemy import select

from e2e.contrast import places
from e2e.person import Meet, Person
from e2e.portal import Running
from portal.catalog.models import Section, Term
from portal.core.db import transaction
from portal.notifications import outbox
from portal.operations import dead_letters
from portal.people.models import Account
from tests import cast as builders


def figure(admin: Person, term: Term, name: str) -> Locator:
    """One of a term's numbers."""
    return admin.page.locator(f'[data-term="{term.id}"] [data-figure={name}]')


def test_seats_and_claims_move_while_a_student_picks(
    meet: Meet, term: Term, section: Section
) -> None:
    builders.an_open_window(term)
    boss, ada = meet("max").listen("/admin/operations"), meet("ada").enter(term)
    expect(figure(boss, term, "taken")).to_have_text("0")
    before = places(boss.page, "#ops-now .dials")
    ada.pick(section)
    expect(figure(boss, term, "taken")).to_have_text("1")
    expect(figure(boss, term, "free")).to_have_text("19")
    expect(boss.page.locator("[data-figure=rate]")).not_to_have_text("0")
    assert places(boss.page, "#ops-now .dials") == before


def test_the_delays_of_recording_are_shown_in_plain_words(
    meet: Meet, portal: Running, term: Term, section: Section
) -> None:
    builders.an_open_window(term)
    boss, ada = meet("max"), meet("ada").enter(term)
    ada.pick(section)
    portal.audit(term.name)
    boss.go("/admin/operations")
    boss.page.get_by_role("link", name="Time to save decisions").click()
    row = boss.page.locator('tr[data-event="enrolled"][data-stage="recorded"]')
    expect(row.get_by_role("rowheader")).to_contain_text("A student enrolled")
    spans = boss.page.get_by_role("navigation", name="Time span")
    expect(spans.locator("[aria-current]")).to_have_text("24 hours")
    spans.get_by_role("link", name="7 days").click()
    expect(spans.locator("[aria-current]")).to_have_text("7 days")


def test_an_error_is_shown_in_the_language_of_the_reader(meet: Meet, term: Term) -> None:
    assert term  # the scheduler has mail sent while there is a term
    builders.a_student("lena")
    with transaction() as session:
        lena = session.scalars(select(Account.id).filter_by(username="lena")).one()
        outbox.queue_mail(session, outbox.ALERT, lena, {}, minutes=-1)
    meet("max")  # logs in by English words, should it be the first time
    boss = meet("max", locale="es").listen("/admin/operations")
    row = boss.page.locator("#ops-dead-mails li")
    expect(row).to_contain_text("Demasiado antiguo para enviarlo.")
    row.get_by_role("link", name="Descartar").click()
    expect(boss.dialog).to_contain_text("Demasiado antiguo para enviarlo.")
    boss.dialog.get_by_label("Motivo").fill("Ya no sirve.")
    boss.dialog.get_by_role("button", name="Descartar").click()
    expect(row).to_have_count(0)


def test_a_dead_letter_of_a_job_is_tried_again(meet: Meet, portal: Running, term: Term) -> None:
    redis = portal.backend.redis
    queue = Queue("maintain", connection=redis, serializer=JSONSerializer)
    boss = meet("max").listen("/admin/operations")
    expect(boss.page.locator("#ops-dead-jobs")).to_contain_text("No failed jobs.")
    job = queue.enqueue("jobs.maintain.maintain", "no number", job_id=f"{term.id}-poison")
    row = boss.page.locator("#ops-dead-jobs li")
    expect(row).to_have_count(1)
    row.get_by_role("link", name="Retry").click()
    expect(boss.dialog).to_contain_text("Update sections for registration")
    boss.dialog.get_by_role("button", name="Retry").click()
    expect(boss.dialog.locator(".errors")).to_contain_text("Enter a reason")
    job.args = [term.id]
    job.save()
    boss.dialog.get_by_label("Reason").fill("The call is mended.")
    boss.dialog.get_by_role("button", name="Retry").click()
    expect(boss.page.locator("#toasts")).to_contain_text("The job will be retried.")
    expect(boss.page.locator("#ops-dead-jobs")).to_contain_text("No failed jobs.")
    assert dead_letters.counts(redis)["maintain"] == 0
