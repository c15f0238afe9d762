"""/admin/report-subscriptions: reports of a term that people get by mail at set times."""

import csv
import os
import signal
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, time, timedelta
from email.message import EmailMessage
from io import StringIO
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import func, select, update

from portal.backend import Backend
from portal.catalog.models import Course, Section, Term
from portal.core.db import transaction
from portal.notifications.mail_sender import MailSender, mail_breaker
from portal.notifications.models import OutboxEntry
from portal.people.models import Account, Student
from portal.recorder.recorder import drain
from portal.recorder.sweep import Sweeper
from portal.reports import subscriptions
from portal.reports.models import ReportSubscription
from portal.reports.subscriptions import MOST, Schedule
from portal.reports.term_reports import REPORTS
from tests import cast as builders
from tests.audit_trail import entries
from tests.cast import Cast
from tests.ledger_claims import claim
from tests.notifications.mail_server import Postman
from tests.notifications.senders import until
from tests.notifications.stories import give_addresses, outbox
from tests.recorder.processes import ready, running, wait_for
from tests.statements import looked_up
from tests.web.admin.windows.windows import closes
from tests.web.http.route_rules import a_staff
from tests.web.pages import words
from tests.web.visitors import browser_of

PAGE = "/admin/report-subscriptions"
DAILY = {"days": "daily", "at": "07:30"}
PAST = datetime(2020, 1, 1, tzinfo=UTC)


@pytest.fixture
def section(term: Term, cast: Cast) -> Section:
    """A section in which Ada, who asked for privacy, has a seat, and for which Ben waits."""
    found = builders.a_section(builders.a_course("CSC-1100", title="=Java"), term, capacity=1)
    builders.an_open_window(term)
    give_addresses()
    with transaction() as session:
        ada = Student.id == cast.ada.id
        session.execute(update(Student).where(ada).values(private=True))
    claim(cast.ada, found)
    claim(cast.ben, found)
    drain(term.id)
    return found


@pytest.fixture
def admin(app: Flask, section: Section) -> FlaskClient:  # noqa: ARG001
    return browser_of(app, "max")


def subscribe(client: FlaskClient, term: Term, report: str = "rosters", **form: str) -> Any:
    return client.post(PAGE, data={"report": report, "term": str(term.id), **DAILY, **form})


def rows() -> list[ReportSubscription]:
    with transaction() as session:
        found = select(ReportSubscription).order_by(ReportSubscription.id)
        return list(session.scalars(found))


def only() -> ReportSubscription:
    (row,) = rows()
    return row


def set_row(**values: Any) -> None:
    """Play that time has passed."""
    with transaction() as session:
        session.execute(update(ReportSubscription).values(values))


def set_account(username: str, **values: Any) -> None:
    with transaction() as session:
        session.execute(update(Account).where(Account.username == username).values(values))


def acts() -> list[str]:
    return [each.action.removeprefix("report.") for each in entries("report.%")]


def fall_due(relay: MailSender) -> None:
    """Let the time come, and do what is due then."""
    set_row(next_at=PAST)
    subscriptions.queue_due()
    relay.send_due()


def text_of(mail: EmailMessage) -> str:
    body = mail.get_body()
    assert body
    return " ".join(str(body.get_content()).split())


def file_of(mail: EmailMessage) -> list[list[str]]:
    (file,) = mail.iter_attachments()
    content = file.get_payload(decode=True)
    assert isinstance(content, bytes)
    return list(csv.reader(StringIO(content.decode("utf-8-sig"))))


def shown(client: FlaskClient) -> str:
    return words(client.get(PAGE).text)


# What one gets


def test_report_comes_as_a_file_with_its_figures_and_the_way_out(
    admin: FlaskClient, term: Term, relay: MailSender, postman: Postman
) -> None:
    assert subscribe(admin, term, "seats", days="weekdays").status_code == 303
    assert "Every weekday (Monday to Friday) at 7:30 am" in shown(admin)
    fall_due(relay)
    (mail,) = postman.mails
    assert postman.recipients == ["max@u.example"]
    assert mail["Subject"] == "Sections and their seats, Fall 2030"
    assert mail["List-Unsubscribe"].endswith(f"{PAGE}>")
    said = text_of(mail)
    assert "Sections: 1 Seats: 1 Taken: 1 Waiting: 1" in said
    assert f"/admin/terms/{term.id}/sections " in said
    assert "Every weekday (Monday to Friday) at 7:30 am. Change or end it:" in said
    assert said.split("Change or end it: ")[1].split()[0].endswith(PAGE)
    (file,) = mail.iter_attachments()
    assert (file.get_content_type(), file.get_filename()) == ("text/csv", f"seats-{term.id}.csv")
    assert file_of(mail)[1] == ["CSC 1100-01", "1000", "'=Java", "1", "1", "1", ""]
    assert "Sent with the file" in shown(admin)


@pytest.mark.parametrize("report", REPORTS)
def test_each_report_is_sent(
    admin: FlaskClient, term: Term, relay: MailSender, postman: Postman, report: str
) -> None:
    builders.a_section(builders.a_course("CSC-2"), term)
    closes(term, builders.an_open_window(term, 30))
    assert subscribe(admin, term, report).status_code == 303
    fall_due(relay)
    (mail,) = postman.mails
    assert str(REPORTS[report].label) in mail["Subject"]
    assert len(file_of(mail)) > 1 or report == "applications"
    address = text_of(mail).split(f"{REPORTS[report].label}: http")[1].split()[0]
    assert admin.get(f"/{address.split('/', 3)[3]}").status_code == 200


def test_rosters_have_no_private_details(
    admin: FlaskClient, term: Term, cast: Cast, relay: MailSender, postman: Postman
) -> None:
    subscribe(admin, term)
    fall_due(relay)
    (mail,) = postman.mails
    head, ada, ben = (dict(enumerate(row)) for row in file_of(mail))
    email = list(head.values()).index("email")
    assert (ada[4], ada[5], ada[email]) == (cast.ada.number, "Ada", "")
    assert (ben[5], ben[email]) == ("Ben", "ben@u.example")
    assert "It has no email, year or level of students" in text_of(mail)
    assert "ada@u.example" not in str(mail)


def test_file_too_large_for_a_mail_comes_as_a_link(  # noqa: PLR0917
    admin: FlaskClient,
    term: Term,
    relay: MailSender,
    postman: Postman,
    backend: Backend,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    subscribe(admin, term)
    monkeypatch.setattr(backend, "settings", replace(backend.settings, attachment_kb=0))
    fall_due(relay)
    (mail,) = postman.mails
    assert list(mail.iter_attachments()) == []
    assert "larger than 0 KB, too large for an email." in text_of(mail)
    assert f"/admin/terms/{term.id}/rosters.csv" in text_of(mail)
    assert "Sent with a link" in shown(admin)


def test_mail_is_in_the_language_of_the_account(
    admin: FlaskClient, term: Term, relay: MailSender, postman: Postman
) -> None:
    set_account("max", language="es")
    subscribe(admin, term, "seats")
    fall_due(relay)
    (mail,) = postman.mails
    assert "Hola, Max:" in text_of(mail)
    assert file_of(mail)[0][0] == "Grupo"


def test_window_that_has_not_ended_gives_no_mail(
    admin: FlaskClient, term: Term, relay: MailSender, postman: Postman
) -> None:
    subscribe(admin, term, "result")
    fall_due(relay)
    assert (postman.mails, outbox()) == ([], [])
    assert "Nothing to report yet" in shown(admin)
    assert only().next_at
    closes(term, builders.an_open_window(term, 30))
    fall_due(relay)
    assert len(postman.mails) == 1
    assert "Nothing to report yet" not in shown(admin)


# Once for each time


@pytest.mark.usefixtures("admin")
def test_missed_times_are_one_mail(app: Flask, term: Term) -> None:
    subscribe(browser_of(app, "max"), term)
    set_row(next_at=datetime.now(UTC) - timedelta(days=40))
    subscriptions.queue_due()
    subscriptions.queue_due()
    assert len(outbox()) == 1
    following = only().next_at
    assert following
    assert timedelta(0) < following - datetime.now(UTC) <= timedelta(days=1)


def test_several_workers_at_once_queue_one_mail(admin: FlaskClient, term: Term) -> None:
    for report in REPORTS:
        subscribe(admin, term, report)
    set_row(next_at=PAST)
    with ThreadPoolExecutor(8) as pool:
        for each in [pool.submit(subscriptions.queue_due) for _ in range(16)]:
            each.result()
    assert len(outbox()) == len(REPORTS)


def test_clock_that_goes_back_sends_no_second_mail(admin: FlaskClient, term: Term) -> None:
    subscribe(admin, term)
    set_row(next_at=PAST)
    subscriptions.queue_due()
    # As after a clock that was half an hour ahead at that time.
    set_row(last_at=datetime.now(UTC) + timedelta(minutes=30))
    subscriptions.queue_due()
    assert len(outbox()) == 1


def test_clock_that_was_years_ahead_does_not_end_a_report(admin: FlaskClient, term: Term) -> None:
    subscribe(admin, term)
    ahead = datetime.now(UTC) + timedelta(days=900)
    set_row(last_at=ahead, next_at=ahead + timedelta(days=1))
    assert [each.job for each in looked_up(subscriptions.due_jobs, [])] == ["report"]
    subscriptions.queue_due()
    row = only()
    assert row.next_at
    assert row.next_at - datetime.now(UTC) <= timedelta(days=1)
    assert outbox() == []
    assert list(looked_up(subscriptions.due_jobs, [])) == []


@pytest.mark.parametrize(
    ("at", "after", "expected"),
    [
        # The clocks go forward at 2:00: what would be at 2:30 is at 3:30.
        ("02:30", "2027-03-13T20:00", "2027-03-14T07:30"),
        ("02:30", "2027-03-14T07:30", "2027-03-15T06:30"),
        # They go back at 2:00: 1:30 comes twice, the mail once.
        ("01:30", "2027-11-07T00:00", "2027-11-07T05:30"),
        ("01:30", "2027-11-07T05:30", "2027-11-08T06:30"),
        # 8:00 stays 8:00.
        ("08:00", "2027-03-13T20:00", "2027-03-14T12:00"),
        ("08:00", "2027-11-06T20:00", "2027-11-07T13:00"),
        ("08:00", "2027-11-07T12:30", "2027-11-07T13:00"),
    ],
)
@pytest.mark.usefixtures("backend")
def test_time_of_day_is_that_of_the_institution(at: str, after: str, expected: str) -> None:
    found = Schedule("daily", time.fromisoformat(at)).next(_utc(after))
    assert found == _utc(expected)


@pytest.mark.parametrize(("days", "expected"), [("weekdays", 9), ("thursday", 12), ("daily", 7)])
@pytest.mark.usefixtures("backend")
def test_days_are_those_chosen(days: str, expected: int) -> None:
    friday = datetime(2026, 11, 6, 9, tzinfo=ZoneInfo("America/New_York"))
    found = Schedule(days, time(8)).next(friday)
    assert found.astimezone(friday.tzinfo).day == expected


def _utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def test_scheduler_calls_the_worker_once_it_is_due(
    admin: FlaskClient, term: Term, backend: Backend
) -> None:
    subscribe(admin, term)
    waiting = "rq:queue:background"
    for next_at, jobs in ((datetime.now(UTC) + timedelta(hours=1), 0), (PAST, 1)):
        set_row(next_at=next_at)
        sweeper = Sweeper()
        sweeper.read_terms()
        sweeper.enqueue_due()
        found = [each for each in backend.redis.lrange(waiting, 0, -1) if b"report-0" in each]
        assert len(found) == jobs


@pytest.mark.slow
def test_two_schedulers_and_killed_workers_send_it_once(
    admin: FlaskClient, term: Term, postman: Postman, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAIRSEAT_SMTP", f"smtp://127.0.0.1:{postman.port}")
    for report in ("seats", "underfilled", "rosters"):
        subscribe(admin, term, report)
    with running(("scheduler",), ("scheduler",), ("worker", "background")) as processes:
        ready("background")
        set_row(next_at=datetime.now(UTC))
        wait_for(lambda: all(each.mail_id for each in rows()))
        for each in processes:
            os.kill(each.pid, signal.SIGKILL)
    with running(("scheduler",), ("scheduler",), ("worker", "background"), ("worker", "notify")):
        wait_for(lambda: all(each.sent_at for each in outbox()))
    assert len(outbox()) == 3
    assert len(set(postman.ids)) == len(postman.mails) == 3


# Who no longer gets it


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"is_admin": False}, "right"),
        ({"is_admin": False, "staff_roles": ["help_desk"]}, "right"),
        ({"deactivated_at": PAST}, "account"),
        ({"deleted_at": PAST}, "account"),
        ({"email": ""}, "address"),
    ],
)
def test_who_may_not_see_it_gets_no_mail(  # noqa: PLR0917
    admin: FlaskClient,
    term: Term,
    relay: MailSender,
    postman: Postman,
    change: dict[str, Any],
    why: str,
) -> None:
    subscribe(admin, term)
    set_row(next_at=PAST)
    subscriptions.queue_due()
    set_account("max", **change)  # after it was queued, before it is sent
    relay.send_due()
    assert (postman.mails, outbox()) == ([], [])
    row = only()
    assert (row.result, row.next_at) == (why, None)
    assert acts() == ["subscribe", "end"]
    [ended] = entries("report.end")
    assert (ended.after, ended.account_id) == ({"report": "rosters", "stopped": why}, None)


@pytest.mark.parametrize("change", [{"state": "archived"}, {"deleted_at": PAST}])
def test_term_that_is_over_stops_it_and_it_can_be_started_again(
    admin: FlaskClient, term: Term, relay: MailSender, postman: Postman, change: dict[str, Any]
) -> None:
    subscribe(admin, term)
    with transaction() as session:
        session.execute(update(Term).values(change))
    fall_due(relay)
    assert postman.mails == []
    said = shown(admin)
    assert "Stopped" in said
    assert "The term is archived or deleted." in said
    edit = f"{PAGE}/{only().id}/edit"
    assert admin.post(edit, data=DAILY).status_code == 422
    with transaction() as session:
        session.execute(update(Term).values(state="published", deleted_at=None))
    assert admin.post(edit, data=DAILY).status_code == 303
    assert only().next_at
    assert acts() == ["subscribe", "end", "change"]


def test_scheduler_of_a_department_gets_its_sections_alone(
    app: Flask, term: Term, section: Section, relay: MailSender, postman: Postman
) -> None:
    a_staff()
    set_account("sam", email="sam@u.example")
    builders.a_section(builders.a_course("ART-1"), term)
    other = builders.a_department("ART").id
    with transaction() as session:
        art = update(Course).where(Course.code == "ART-1")
        session.execute(art.values(department_id=other))
        session.execute(update(Term).values(catalog_version=Term.catalog_version + 1))
    sam = browser_of(app, "sam")
    assert "Rosters of all sections" not in shown(sam)
    assert subscribe(sam, term, "rosters").status_code == 422
    assert subscribe(sam, term, "seats").status_code == 303
    fall_due(relay)
    (mail,) = postman.mails
    assert [row[0] for row in file_of(mail)[1:]] == ["CSC 1100-01"]
    assert section


def test_people_without_the_right_can_not_subscribe(app: Flask, section: Section) -> None:
    assert section
    a_staff()
    for username in ("ada", "iris", "vic"):
        assert browser_of(app, username).get(PAGE).status_code == 403
    assert subscribe(browser_of(app, "helen"), term_of(section), "rosters").status_code == 422
    assert rows() == []


def term_of(section: Section) -> Term:
    with transaction() as session:
        return session.get_one(Term, section.term_id)


# The page


def test_change_and_end_leave_entries(
    admin: FlaskClient, term: Term, cast: Cast, relay: MailSender, postman: Postman
) -> None:
    subscribe(admin, term)
    here = f"{PAGE}/{only().id}"
    assert admin.get(f"{here}/edit").status_code == 200
    admin.post(f"{here}/edit", data={"days": "monday", "at": "18:05"})
    assert "Every Monday at 6:05 pm" in shown(admin)
    assert "You no longer get this report by email." in words(admin.get(f"{here}/end").text)
    set_row(next_at=PAST)
    subscriptions.queue_due()
    for _ in range(2):  # a double click
        assert admin.post(f"{here}/end").status_code == 303
    relay.send_due()  # what waited is not sent
    assert (rows(), postman.mails, outbox()) == ([], [], [])
    assert "You get no reports by email." in shown(admin)
    assert acts() == ["subscribe", "change", "end"]
    assert {each.account_id for each in entries("report.%")} == {cast.max.id}
    [changed] = entries("report.change")
    assert changed.before == {"report": "rosters", "days": "daily", "at": "07:30"}
    assert changed.after == {"report": "rosters", "days": "monday", "at": "18:05"}
    trail = words(admin.get(f"/admin/audit/{changed.id}").text)
    assert "Rosters of all sections" in trail
    assert "Every day" in trail
    assert "Every Monday" in trail


def test_same_subscription_twice_is_one_and_another_time_is_refused(
    admin: FlaskClient, term: Term
) -> None:
    codes = [subscribe(admin, term).status_code for _ in range(2)]
    again = subscribe(admin, term, at="09:00")
    assert (codes, again.status_code, len(rows())) == ([303, 303], 409, 1)
    assert "You already get this report of this term." in words(again.text)


def test_browser_tabs_at_once_make_one(app: Flask, admin: FlaskClient, term: Term) -> None:
    assert "Fall 2030" in shown(admin)
    tabs = [browser_of(app, "max") for _ in range(6)]
    with ThreadPoolExecutor(6) as pool:
        codes = list(pool.map(lambda tab: subscribe(tab, term).status_code, tabs))
    assert (codes, len(rows())) == ([303] * 6, 1)


@pytest.mark.parametrize(
    ("form", "error"),
    [
        ({"at": "25:00"}, "Time: enter a time such as 14:30."),
        ({"at": ""}, "Time: fill in this field."),
        ({"at": "08:00+01"}, "Time: enter"),
        ({"days": "never"}, "Choose one from the list."),
        ({"report": "nonsense"}, "Choose a report."),
        ({"term": "99999"}, "Choose a term."),
        ({"term": "x"}, "Choose a term."),
    ],
)
def test_bad_input_gets_an_error(
    admin: FlaskClient, term: Term, form: dict[str, str], error: str
) -> None:
    answer = admin.post(PAGE, data={"report": "seats", "term": str(term.id), **DAILY, **form})
    assert answer.status_code == 422
    assert error in words(answer.text)
    assert rows() == []


def test_without_an_address_nothing_is_promised(admin: FlaskClient, term: Term) -> None:
    set_account("max", email="")
    answer = subscribe(admin, term)
    assert answer.status_code == 409
    assert "Your account has no email address" in words(answer.text)
    assert rows() == []


def test_number_of_subscriptions_is_limited(admin: FlaskClient, term: Term, cast: Cast) -> None:
    terms = [builders.a_term(f"Term {number}").id for number in range(MOST)]
    with transaction() as session:
        for each in terms:
            row = ReportSubscription(account_id=cast.max.id, report="seats", term_id=each)
            row.days, row.at, row.result = "daily", time(8), ""
            session.add(row)
    answer = subscribe(admin, term)
    assert answer.status_code == 409
    assert f"You get {MOST} reports." in words(answer.text)


def test_send_now_mails_it_at_once_and_once(
    admin: FlaskClient, term: Term, cast: Cast, relay: MailSender, postman: Postman
) -> None:
    subscribe(admin, term)
    before, send = only().next_at, f"{PAGE}/{only().id}/send"
    assert admin.post(send).status_code == 303
    assert "Waiting to be sent" in shown(admin)
    again = admin.post(send)
    assert again.status_code == 409
    assert "An email with this report is already on its way." in words(again.text)
    relay.send_due()
    assert len(postman.mails) == 1
    assert only().next_at == before
    assert acts() == ["subscribe", "send"]
    [sent] = entries("report.send")
    assert (sent.account_id, sent.subject) == (
        cast.max.id,
        f"account:{cast.max.id} term:{term.id}",
    )
    set_row(next_at=None, result="right")
    assert admin.post(send).status_code == 409


def test_subscriptions_of_others_do_not_exist(app: Flask, admin: FlaskClient, term: Term) -> None:
    a_staff()
    subscribe(admin, term)
    audrey, here = browser_of(app, "audrey"), f"{PAGE}/{only().id}"
    assert "You get no reports by email." in shown(audrey)
    for act in ("edit", "end"):
        assert audrey.get(f"{here}/{act}").status_code == 404
    for act in ("edit", "send"):
        assert audrey.post(f"{here}/{act}", data=DAILY).status_code == 404
    audrey.post(f"{here}/end")
    assert len(rows()) == 1


def test_refused_mail_is_undelivered_and_can_be_sent_again(
    admin: FlaskClient, term: Term, relay: MailSender, postman: Postman
) -> None:
    subscribe(admin, term)
    postman.answers = ["450 later", "550 no such user"]
    fall_due(relay)
    wait_for(lambda: relay.send_due() or outbox()[0].dead_at)
    assert "Could not be sent" in shown(admin)
    page = words(admin.get("/admin/operations").text)
    assert "Report by email" in page
    assert "550 no such user" in page
    with transaction() as session:
        session.execute(update(OutboxEntry).values(dead_at=None, due_at=func.now(), tries=0))
    relay.send_due()
    assert len(postman.mails) == 1
    assert "Sent with the file" in shown(admin)
    assert acts() == ["subscribe", "send"]  # one report, however often it was tried


def test_admin_writes_the_text_of_the_mail(
    admin: FlaskClient, term: Term, relay: MailSender, postman: Postman
) -> None:
    page = "/admin/mail-texts/report/en"
    version = admin.get(page).text.split('name="version" value="')[1].split('"')[0]
    body = "Dear {name},\n\n{text}\n\n{link}\n\n{settings}"
    form = {"subject": "Numbers: {title}", "body": body, "reason": "Short.", "do": "save"}
    assert admin.post(page, data={**form, "version": version}).status_code == 303
    subscribe(admin, term)
    fall_due(relay)
    (mail,) = postman.mails
    assert mail["Subject"] == "Numbers: Rosters of all sections, Fall 2030"
    assert text_of(mail).startswith("Dear Max, Time:")


# A mail server that is away


def test_a_report_is_in_the_audit_trail_once_it_is_sent(
    admin: FlaskClient, term: Term, relay: MailSender, postman: Postman
) -> None:
    subscribe(admin, term)
    postman.close()
    fall_due(relay)
    until(relay, lambda: relay.breaker.state == "open")
    assert acts() == ["subscribe"]
    postman.open()
    until(relay, lambda: bool(postman.mails))
    assert acts() == ["subscribe", "send"]
    assert entries("report.%")[1].after == {"report": "rosters"}


def test_a_subscription_that_ends_while_its_report_is_sent_does_not_send_it_again(
    admin: FlaskClient, term: Term, cast: Cast, relay: MailSender
) -> None:
    subscribe(admin, term)
    sent: list[object] = []

    class Post:
        def send(self, mail: object) -> None:
            sent.append(mail)
            subscriptions.end(cast.max.id, only().id)

        def close(self) -> None:
            pass

    fall_due(MailSender(Post, relay.breaker))
    relay.send_due()
    assert len(sent) == 1
    assert acts() == ["subscribe", "end", "send"]


def test_no_report_is_made_while_the_mail_server_is_left_alone(
    admin: FlaskClient,
    term: Term,
    relay: MailSender,
    postman: Postman,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    subscribe(admin, term)
    patient = MailSender(relay.post, mail_breaker(rest=3600), relay.pauses)
    postman.close()
    fall_due(patient)
    until(patient, lambda: patient.breaker.state == "open")
    made: list[object] = []
    report = replace(REPORTS["rosters"], make=lambda *about: made.append(about))
    monkeypatch.setitem(REPORTS, "rosters", report)
    with transaction() as session:
        session.execute(update(OutboxEntry).values(due_at=func.now()))
    assert patient.send_due() == 0
    assert not made
    assert relay.send_due() == 1  # its process has not heard of the failures
    assert made
