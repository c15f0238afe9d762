"""/admin/imports with students in classes: refusals are shown before anything is done."""

from pathlib import Path

import pytest
from flask.testing import FlaskClient
from rq import Queue
from sqlalchemy import select

from portal.backend import backend
from portal.catalog.models import Section
from portal.core.audit_trail import AuditEntry
from portal.core.db import Sessions, transaction
from portal.exchange.importing import import_jobs, runs
from portal.exchange.importing.failures import SeatsLeftError
from portal.notifications.models import Notification, OutboxEntry
from portal.operations import dead_letters
from tests.cast import Cast
from tests.exchange.enrolled import publish, roster
from tests.exchange.imported_enrollments import adjust, with_a_seat_left
from tests.exchange.makers import away, latest, let_a_minute_pass, page, press, sent, store
from tests.exchange.oneroster import School, imported
from tests.recorder.processes import running, wait_for


def one_too_many() -> bytes:
    """A class of one seat with two students."""
    return School().student(2).seats(1).enroll().enroll("u-2").zip()


def test_nothing_is_applied_while_a_seat_would_be_refused(boss: FlaskClient) -> None:
    import_id = sent(boss, one_too_many(), layout="oneroster")
    shown = page(boss, import_id)
    assert "1 enrollment would be refused" in shown
    assert "enrollments.csv, line 4" in shown
    assert "Full." in shown
    assert "Apply the import" not in shown
    press(boss, import_id, "apply")
    assert latest().state == "ready"


def test_the_rest_is_applied_without_it(boss: FlaskClient) -> None:
    import_id = sent(boss, one_too_many(), layout="oneroster")
    press(boss, import_id, "rest")
    assert "The import was applied, except 1 refused value or row." in page(boss, import_id)
    assert roster() == [("90001", "S-1")]


def test_the_rest_cancels_sections_only_if_that_is_ticked(boss: FlaskClient) -> None:
    other = {"courseSourcedId": "crs", "termSourcedIds": "fall", "classCode": "CSCI-1200-02"}
    school = School().student(2).seats(1).add("classes", title="Second", **other)
    press(boss, sent(boss, school.zip(), layout="oneroster"), "apply")
    school.rows["classes"][1]["status"] = "tobedeleted"
    school.enroll().enroll("u-2")
    import_id = sent(boss, school.zip(), layout="oneroster")
    shown = page(boss, import_id)
    assert shown.count(f"/imports/{import_id}/rest") == shown.count("Apply without them") == 1
    press(boss, import_id, "rest")
    assert "Tick the box to confirm" in page(boss, import_id)
    boss.post(f"/admin/imports/{import_id}/rest", data={"cancels": "yes"})
    runs.continue_import(import_id)
    assert roster() == [("90001", "S-1")]
    with transaction() as session:
        statuses = session.scalars(select(Section.status).order_by(Section.crn)).all()
    assert statuses == ["OPEN", "CANCELED"]


def test_it_is_read_again_to_put_everyone_in_past_rules_and_capacity(boss: FlaskClient) -> None:
    import_id = sent(boss, one_too_many(), layout="oneroster")
    press(boss, import_id, "past")
    assert "nothing has been changed yet" in page(boss, import_id)
    press(boss, import_id, "apply")
    assert roster() == [("90001", "S-1"), ("90001", "S-2")]


def test_the_form_may_ask_for_it_at_once(boss: FlaskClient) -> None:
    import_id = sent(boss, one_too_many(), layout="oneroster", past="yes")
    assert "would be refused" not in page(boss, import_id)


def test_seats_that_went_since_the_preview_keep_it_from_being_applied(boss: FlaskClient) -> None:
    press(boss, sent(boss, School().student(2).seats(1).zip(), layout="oneroster"), "apply")
    import_id = sent(boss, School().student(2).seats(1).enroll().zip(), layout="oneroster")
    adjust(2, add="90001")
    roster()
    press(boss, import_id, "apply")
    assert "Seats were taken after the preview" in page(boss, import_id)


def test_a_seat_taken_at_the_last_moment_refuses_the_row_and_is_reported(boss: FlaskClient) -> None:
    press(boss, sent(boss, School().student(2).seats(1).zip(), layout="oneroster"), "apply")
    import_id = sent(boss, School().student(2).seats(1).enroll().zip(), layout="oneroster")
    store(boss, import_id)
    adjust(2, add="90001")
    runs.continue_import(import_id)
    shown = page(boss, import_id)
    assert "The import was applied, except 1 enrollment" in shown
    assert "enrollments.csv, line 3" in shown
    assert "S-1" in boss.get(f"/admin/imports/{import_id}/report.csv").text
    assert roster() == [("90001", "S-2")]


def test_students_find_it_in_their_inbox_and_get_no_mail(boss: FlaskClient, cast: Cast) -> None:
    press(boss, sent(boss, School().seats(1).zip(), layout="oneroster"), "apply")
    publish()
    school = School().seats(1).enroll()
    school.rows["users"][1]["email"] = "spark@example.edu"
    press(boss, sent(boss, school.zip(), layout="oneroster"), "apply")
    roster()
    with transaction() as session:
        assert session.scalars(select(Notification.kind)).all() == ["by_hand"]
        assert session.scalars(select(OutboxEntry.id)).all() == []
        seat = select(AuditEntry).where(AuditEntry.action == "selection.add")
        noted = session.scalars(seat).one()
    assert (noted.account_id, noted.reason) == (cast.max.id, f"Import {latest().id}: spring.zip")


def test_the_scheduler_enqueues_another_worker_after_a_kill(boss: FlaskClient) -> None:
    school = School().seats(9000)
    for number in range(2, 602):
        school.student(number).enroll(f"u-{number}")
    import_id = sent(boss, school.zip(), layout="oneroster")
    with running(("worker", "background")) as [worker]:
        boss.post(f"/admin/imports/{import_id}/apply")
        wait_for(lambda: taken() > 0)
        worker.kill()
        worker.wait()
    assert latest().state == "enrolling"
    let_a_minute_pass()
    with running(("worker", "background"), ("scheduler",)):
        wait_for(lambda: latest().state == "done")
    assert len(roster()) == taken() == 600
    assert "The import was applied." in page(boss, import_id)


def test_remaining_enrollments_are_enqueued_once_at_a_time(boss: FlaskClient) -> None:
    import_id = sent(boss, School().seats(1).enroll().zip(), layout="oneroster")
    store(boss, import_id)
    queue = Queue("background", connection=backend().redis)
    queue.empty()
    runs.resume()
    assert queue.job_ids == []  # whoever has stored it goes on
    for _again in range(2):
        let_a_minute_pass()
        runs.resume()
        runs.resume()
        assert [job.rpartition("-")[0] for job in queue.job_ids] == [f"import-{import_id}"]
    queue.empty()
    with Sessions.begin() as worker:
        assert import_jobs.lock(worker)
        let_a_minute_pass()
        runs.resume()
    assert queue.job_ids == []


def test_an_unexpected_error_stops_enrollments_until_an_admin_tries_again(
    boss: FlaskClient, caplog: pytest.LogCaptureFixture
) -> None:
    import_id = with_a_seat_left(boss)
    with away("completed_courses"), pytest.raises(SeatsLeftError) as failure:
        runs.continue_import(import_id)
    shown = page(boss, import_id)
    assert "1 enrollment is not applied yet" in shown
    code = shown.split("See the log under ")[1][:16]
    assert code in str(failure.value)
    assert f"something unexpected, {code}" in caplog.text
    let_a_minute_pass()
    with transaction() as session:
        assert import_jobs.abandoned(session) is None  # the clock would only meet the same trouble
    press(boss, import_id, "enroll")
    assert "The import was applied." in page(boss, import_id)
    assert roster() == [("90001", "S-1")]


def test_an_unexpected_error_of_a_command_is_logged_once(
    boss: FlaskClient,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delattr(runs, "decide_enrollments")
    with pytest.raises(SeatsLeftError):
        imported(School().seats(1).enroll().write(tmp_path))
    code = page(boss, latest().id).split("See the log under ")[1][:16]
    logged = [each.message for each in caplog.records if "something unexpected" in each.message]
    assert logged == [f"an import met something unexpected, {code}"]


def test_a_stopped_import_is_a_dead_letter_and_blocks_others_by_name(
    boss: FlaskClient, tmp_path: Path
) -> None:
    import_id = with_a_seat_left(boss)
    runs.enqueue(import_id)
    with away("completed_courses"), running(("worker", "background"), ("scheduler",)):
        wait_for(lambda: dead_letters.find_all(backend().redis))
    [letter] = dead_letters.find_all(backend().redis)
    assert letter.error.startswith("portal.exchange.importing.failures.SeatsLeftError")
    assert latest().error
    with pytest.raises(import_jobs.Busy, match=r"spring\.zip"):
        imported(School().write(tmp_path))


def test_it_may_be_ended_without_the_seats_that_are_left(boss: FlaskClient, cast: Cast) -> None:
    import_id = with_a_seat_left(boss)
    here = f"/admin/imports/{import_id}"
    with away("completed_courses"), pytest.raises(SeatsLeftError):
        runs.continue_import(import_id)
    assert "1 enrollment will not be applied" in boss.get(f"{here}/end").text
    assert boss.post(f"{here}/end").status_code == 422
    assert boss.post(f"{here}/end", data={"reason": "by hand"}).status_code == 303
    shown = page(boss, import_id)
    assert "The import was ended early. 1 enrollment was not applied" in shown
    assert "enrollments.csv, line 3" in shown
    assert "S-1" in boss.get(f"{here}/report.csv").text
    with transaction() as session:
        noted = session.scalars(select(AuditEntry).where(AuditEntry.action == "import.end")).one()
    assert (noted.account_id, noted.reason, noted.after) == (cast.max.id, "by hand", {"left": 1})
    assert boss.post(f"{here}/end", data={"reason": "again"}).status_code == 409
    assert sent(boss, School().zip(), layout="oneroster")


def taken() -> int:
    """Seats that are taken, as the ledger says."""
    with transaction() as session:
        term = session.scalar(select(Section.term_id))
    return sum(each.taken for each in backend().ledger.seats(term or 0).values())
