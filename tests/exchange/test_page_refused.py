"""/admin/imports: what can't be imported, two at once, and what is kept for how long."""

from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import func, select, text
from sqlalchemy.exc import OperationalError

from portal.catalog.models import Course
from portal.core.db import Sessions, transaction
from portal.exchange.importing import files, import_jobs, runs
from portal.exchange.importing.failures import ImportFailedError
from portal.exchange.importing.models import (
    Import,
    ImportChange,
    ImportNote,
    ImportPart,
    ImportRow,
    Options,
)
from portal.exchange.importing.report import Report
from portal.web.http.uploads import MOST_BYTES
from tests import cast as builders
from tests.cast import Cast
from tests.exchange.campus import Campus
from tests.exchange.makers import (
    TERM,
    an_import,
    as_zip,
    change_rows,
    latest,
    let_a_minute_pass,
    page,
    press,
    sections,
    send,
    sent,
)
from tests.registration import database_outage
from tests.web.visitors import browser_of


def test_an_import_that_the_database_refuses_is_half_done_in_nothing_and_says_why(
    boss: FlaskClient, nobody_may_teach: None
) -> None:
    assert nobody_may_teach is None
    import_id = sent(boss, as_zip(Campus().meets(instructors="Okafor")))
    press(boss, import_id, "apply")
    shown = page(boss, import_id)
    assert "Instructors of sections: the database can’t store a value of the files." in shown
    assert "violates" not in shown
    with transaction() as session:
        assert session.scalar(select(func.count()).select_from(Course)) == 0
    assert send(boss, as_zip(Campus())).status_code == 303  # it keeps nobody waiting


def test_an_import_that_is_cut_off_by_an_outage_goes_on_where_it_was(
    boss: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    import_id = sent(boss, as_zip(Campus()))
    boss.post(f"/admin/imports/{import_id}/apply")
    with monkeypatch.context() as outage:
        outage.setattr(runs, "NO_TIMEOUTS", "SELECT pg_terminate_backend(pg_backend_pid())")
        with pytest.raises(OperationalError):
            runs.continue_import(import_id)
    assert latest().state == "applying"
    let_a_minute_pass()
    assert "Interrupted" in page(boss, import_id)
    press(boss, import_id, "resume")
    assert sections() == ["10001"]


def test_a_second_import_is_refused_and_the_first_is_named(boss: FlaskClient) -> None:
    send(boss, as_zip(Campus()))
    answer = send(boss, as_zip(Campus()), name="other.zip")
    assert answer.status_code == 409
    assert "Another import is running: spring.zip (Max)" in answer.text


def test_none_is_applied_while_another_is_under_way(boss: FlaskClient) -> None:
    ready = sent(boss, as_zip(Campus()))
    send(boss, as_zip(Campus()))  # and waits for a worker
    boss.post(f"/admin/imports/{ready}/apply")
    assert "Another import is running" in page(boss, ready)
    with transaction() as session:
        assert session.get_one(Import, ready).state == "ready"
    assert latest().state == "waiting"


def test_an_import_discarded_while_it_is_read_leaves_nothing(boss: FlaskClient) -> None:
    send(boss, as_zip(Campus()))
    import_id = latest().id
    with files.unpacked(import_id) as source, pytest.raises(import_jobs.NoLongerPossible):
        runs.read(import_id, source, Report(), discard_it)
    with transaction() as session:
        assert session.scalar(select(func.count()).select_from(ImportRow)) == 0
    assert "It was discarded" in page(boss, import_id)


def discard_it(*_: object) -> None:
    with transaction() as session:
        assert import_jobs.change_state(
            session, latest().id, "discarded", of=("reading", "discarded")
        )


def test_a_command_whose_import_is_discarded_leaves_no_notes(
    boss: FlaskClient, tmp_path: Path
) -> None:
    campus, report = Campus().restriction("must_be", "level", "Graduate", crn="99"), Report()
    with pytest.raises(import_jobs.NoLongerPossible):
        runs.import_files(campus.write(tmp_path), Options(term=TERM), report, discard_it)
    assert report.notes
    with transaction() as session:
        assert session.scalar(select(func.count()).select_from(ImportNote)) == 0
    assert "It was discarded" in page(boss, latest().id)


def test_more_than_is_taken_is_refused_on_the_form(boss: FlaskClient) -> None:
    form = {"content_type": "multipart/form-data; boundary=x"}
    announced = {"CONTENT_LENGTH": str(MOST_BYTES + 1)}
    answer = boss.post("/admin/imports", **form, environ_overrides=announced)
    assert answer.status_code == 413
    assert "larger than 64 MB" in answer.text
    assert "Upload and preview" in answer.text


def test_where_nothing_would_change_there_is_nothing_to_apply(boss: FlaskClient) -> None:
    press(boss, sent(boss, as_zip(Campus())), "apply")
    shown = page(boss, sent(boss, as_zip(Campus())))
    assert "These files change nothing." in shown
    assert "Apply the import" not in shown


def test_refused_rows_are_named_after_the_rest_is_applied(boss: FlaskClient) -> None:
    campus = Campus().restriction("must_be", "level", "Graduate", crn="99")
    import_id = sent(boss, as_zip(campus))
    press(boss, import_id, "apply")
    shown = page(boss, import_id)
    assert "The import was applied, except 1 refused value or row." in shown
    assert "The import was applied." not in shown


def test_an_import_in_progress_can_not_be_discarded(boss: FlaskClient) -> None:
    send(boss, as_zip(Campus()))
    import_id = latest().id
    with Sessions.begin() as worker:
        assert import_jobs.lock(worker)
        boss.post(f"/admin/imports/{import_id}/discard")
        assert latest().state == "waiting"
    boss.post(f"/admin/imports/{import_id}/discard")
    assert latest().state == "discarded"


def test_a_discarded_import_keeps_no_rows(boss: FlaskClient) -> None:
    import_id = sent(boss, as_zip(Campus()))
    boss.post(f"/admin/imports/{import_id}/discard")
    with transaction() as session:
        for table in (ImportPart, ImportRow):
            assert session.scalar(select(func.count()).select_from(table)) == 0
    assert "Nothing was imported" in page(boss, import_id)


def test_a_preview_expires(boss: FlaskClient) -> None:
    import_id = sent(boss, as_zip(Campus()))
    with transaction() as session:
        session.execute(text("UPDATE imports SET expires_at = now()"))
    boss.get("/admin/imports")
    assert "Nothing was imported" in page(boss, import_id)


def test_what_failed_is_kept_no_longer_than_others(boss: FlaskClient) -> None:
    import_id = sent(boss, b"PK but no zip")
    with transaction() as session:
        session.execute(text("UPDATE imports SET expires_at = now()"))
    boss.get("/admin/imports")
    with transaction() as session:
        assert session.scalar(select(func.count()).select_from(ImportPart)) == 0
    shown = page(boss, import_id)
    assert "spring.zip is not a readable zip" in shown  # why it failed stays
    assert "Read the files again" not in shown
    boss.post(f"/admin/imports/{import_id}/again")
    assert latest().state == "failed"


def test_an_applied_import_shows_its_changes_for_a_day(boss: FlaskClient) -> None:
    import_id = sent(boss, as_zip(Campus()))
    press(boss, import_id, "apply")
    with transaction() as session:
        session.execute(text("UPDATE imports SET expires_at = now()"))
    boss.get("/admin/imports")
    assert "The import was applied" in page(boss, import_id)
    with transaction() as session:
        assert session.scalar(select(func.count()).select_from(ImportChange)) == 0


def test_only_the_uploader_applies_an_import(app: Flask, cast: Cast) -> None:
    import_id = an_import(cast.max)
    builders.an_account("mia", is_admin=True)
    mia = browser_of(app, "mia")
    assert "Only Max, who uploaded the files, can apply this import" in page(mia, import_id)
    assert mia.post(f"/admin/imports/{import_id}/apply").status_code == 403
    assert latest().state == "ready"


def test_the_page_asks_how_far_it_is_until_there_is_more_to_see(boss: FlaskClient) -> None:
    send(boss, as_zip(Campus()))
    here = f"/admin/imports/{latest().id}"
    shown = boss.get(here).text
    assert '<noscript><meta http-equiv="refresh"' in shown
    assert "Waiting for a worker" in boss.get(f"{here}/progress?seen=waiting").text
    runs.continue_import(latest().id)
    answer = boss.get(f"{here}/progress?seen=waiting")
    assert (answer.status_code, answer.headers["HX-Refresh"]) == (204, "true")


def test_the_page_says_so_while_the_database_is_away(boss: FlaskClient) -> None:
    send(boss, as_zip(Campus()))
    here = f"/admin/imports/{latest().id}/progress?seen=waiting"
    database_outage.settled()
    assert "Waiting for a worker" in boss.get(here).text
    with database_outage.away():
        answer = boss.get(here)
    assert answer.status_code == 200
    assert "the database does not respond" in answer.text
    assert "seen=waiting" in answer.text  # so that it goes on asking for the same
    assert "Waiting for a worker" in boss.get(here).text


@pytest.mark.parametrize(
    ("form", "message"),
    [
        ({"term": ""}, "Enter a term name"),
        ({"term": "x" * 81}, "Enter a term name"),
        ({"waitlist": "lots"}, "Enter a whole number"),
        ({"starts": "31.8.2026"}, "Enter a date such as"),
        ({"layout": "pdf"}, "Choose the file format"),
    ],
)
def test_a_form_says_what_is_wrong(boss: FlaskClient, form: dict[str, str], message: str) -> None:
    answer = send(boss, as_zip(Campus()), **form)
    assert answer.status_code == 422
    assert message in answer.text


def test_a_form_without_files_says_so(boss: FlaskClient) -> None:
    answer = boss.post("/admin/imports", data={"layout": "semester", "term": TERM})
    assert answer.status_code == 422
    assert "Choose a zip" in answer.text


def test_a_file_that_is_wrong_fails_with_its_place(boss: FlaskClient) -> None:
    import_id = sent(boss, b"PK but no zip")
    assert "spring.zip is not a readable zip" in page(boss, import_id)
    with transaction() as session:
        assert session.scalar(select(Import.busy)) is None


def test_a_failure_is_translated(boss: FlaskClient) -> None:
    import_id = sent(boss, b"PK but no zip")
    failure = ImportFailedError("Enter a whole number from 0 to %(most)s.", most=9)
    change_rows(Import, error=failure.stored)
    spanish = {"Accept-Language": "es"}
    shown = boss.get(f"/admin/imports/{import_id}", headers=spanish).text
    assert "número entero de 0 a 9" in shown


def test_one_that_fails_again_lists_each_row_once(boss: FlaskClient) -> None:
    campus = Campus().course("CSC-225")  # twice
    campus.prerequisites = ["not an object"]
    import_id = sent(boss, as_zip(campus))
    press(boss, import_id, "again")
    assert latest().state == "failed"
    assert latest().notes == {"duplicate": 1}
    report = boss.get(f"/admin/imports/{import_id}/report.csv").text
    assert report.count("refused,duplicate") == 1
