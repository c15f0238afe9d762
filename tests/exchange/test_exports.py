"""Rosters and OneRoster files, as admins take them away."""

import csv
import io
import zipfile
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import func, select, text, update

from jobs import background
from portal.catalog.models import Section
from portal.core.audit_trail import AuditEntry
from portal.core.db import Sessions, transaction
from portal.exchange.exporting import export_jobs
from portal.exchange.exporting.models import ExportPart
from portal.exchange.exporting.rosters import rosters
from portal.exchange.importing.runs import NO_TIMEOUTS
from portal.people import privacy
from portal.people.models import Account
from portal.recorder.recorder import drain
from tests import cast as builders
from tests.cast import Cast
from tests.exchange.makers import LOST, an_export
from tests.recorder.processes import running, wait_for
from tests.web.pages import press
from tests.web.visitors import browser_of


@pytest.fixture
def section(app: Flask, cast: Cast) -> Any:
    """One seat, which Ada has; Ben waits, whose name a spreadsheet would calculate."""
    with transaction() as session:
        formula = update(Account).where(Account.username == "ben").values(name="=1+1")
        session.execute(formula)
    term = builders.a_term()
    builders.an_open_window(term)
    made = builders.a_section(builders.a_course(), term, capacity=1, instructor=cast.iris)
    builders.a_section(builders.a_course("MAT-1"), term)
    press(browser_of(app, "ada"), made, "pick")
    press(browser_of(app, "ben"), made, "pick", wait="1")
    drain(term.id)
    return made


def rows(output: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(output.removeprefix("\ufeff"))))


def test_a_roster_lists_enrolled_students_then_the_waitlist(
    boss: FlaskClient, section: Section
) -> None:
    answer = boss.get(f"/admin/terms/{section.term_id}/sections/{section.id}/roster.csv")
    assert [(row["name"], row["state"]) for row in rows(answer.text)] == [
        ("Ada", "enrolled"),
        ("'=1+1", "waiting"),
    ]
    assert answer.headers["Content-Disposition"].startswith("attachment")


def test_a_roster_marks_private_students(boss: FlaskClient, section: Section, cast: Cast) -> None:
    privacy.set_private(cast.ben.id, cast.max.id, private=True)
    answer = boss.get(f"/admin/terms/{section.term_id}/sections/{section.id}/roster.csv")
    assert [row["private"] for row in rows(answer.text)] == ["", "private"]


def test_the_rosters_of_a_term_are_one_table(boss: FlaskClient, section: Section) -> None:
    found = rows(boss.get(f"/admin/terms/{section.term_id}/rosters.csv").text)
    assert {row["crn"] for row in found} == {section.crn}
    assert found[0]["credits"] == "4"


def test_a_section_of_another_term_is_not_there(boss: FlaskClient, section: Section) -> None:
    other = builders.a_term("Fall 2031")
    answer = boss.get(f"/admin/terms/{other.id}/sections/{section.id}/roster.csv")
    assert answer.status_code == 404


def test_a_download_of_rosters_is_in_the_audit_trail(boss: FlaskClient, section: Section) -> None:
    boss.get(f"/admin/terms/{section.term_id}/rosters.csv")
    boss.get(f"/admin/terms/{section.term_id}/sections/{section.id}/roster.csv")
    assert entries("export.rosters") == [f"term:{section.term_id}", f"section:{section.id}"]


def test_rosters_hold_nothing_open_while_they_are_sent(section: Section) -> None:
    output = rosters(section.term_id)
    assert next(output)[0] == "course"
    assert next(output)[5] == "Ada"
    with transaction() as session:
        session.execute(text("SET LOCAL lock_timeout = '1s'"))
        session.execute(text("LOCK TABLE enrollments IN ACCESS EXCLUSIVE MODE"))
    assert next(output)[5] == "=1+1"  # as it is until it is written


def test_a_download_of_an_export_is_in_the_audit_trail(boss: FlaskClient) -> None:
    export_id = asked(boss)
    assert entries("export.make") == [f"export:{export_id}"]


def test_everything_is_a_zip_with_a_manifest(boss: FlaskClient, section: Section) -> None:
    assert section
    export_id = asked(boss)
    assert "Preparing the file" in page(boss, export_id)
    assert boss.get(f"/admin/exports/{export_id}/oneroster.zip").status_code == 404
    background.make_export(export_id)
    assert "Download (" in page(boss, export_id)
    answer = boss.get(f"/admin/exports/{export_id}/oneroster.zip")
    assert answer.content_length == len(answer.data)
    with zipfile.ZipFile(io.BytesIO(answer.data)) as packed:
        manifest = packed.read("manifest.csv").decode()
        users = packed.read("users.csv").decode()
    assert "oneroster.version,1.2" in manifest
    assert "file.demographics,absent" in manifest
    assert "max" not in users  # who neither studies nor teaches


def test_a_worker_makes_a_requested_export(boss: FlaskClient) -> None:
    export_id = asked(boss)
    with running(("worker", "background")):
        wait_for(lambda: "Download (" in page(boss, export_id))


@pytest.mark.parametrize("killed", [False, True])
def test_one_that_is_cut_off_is_made_by_another_worker(boss: FlaskClient, *, killed: bool) -> None:
    export_id = asked(boss)
    with running(("worker", "background")) as [worker]:
        with Sessions.begin() as holder:
            holder.execute(text(NO_TIMEOUTS))
            holder.execute(text("LOCK TABLE sections IN ACCESS EXCLUSIVE MODE"))
            wait_for(lambda: counted("pg_locks WHERE NOT granted"))
            if killed:
                worker.kill()
                worker.wait()
            else:
                holder.execute(LOST)
        wait_for(lambda: not counted("pg_locks WHERE locktype = 'advisory' AND objsubid = 2"))
        assert "Preparing the file" in page(boss, export_id)
        with transaction() as session:
            session.execute(text("UPDATE exports SET asked_at = now() - interval '1 minute'"))
        export_jobs.resume()  # as the clock does
        with running(*[("worker", "background")] * killed):
            wait_for(lambda: "Download (" in page(boss, export_id))


def test_an_export_fails_after_half_an_hour_without_a_worker(boss: FlaskClient) -> None:
    export_id = asked(boss)
    with transaction() as session:
        session.execute(text("UPDATE exports SET asked_at = now() - interval '31 minutes'"))
    export_jobs.resume()
    assert "The export failed" in page(boss, export_id)


def test_a_second_press_waits_for_the_same_file(boss: FlaskClient) -> None:
    assert asked(boss) == asked(boss)


def test_only_the_requester_downloads_an_export(app: Flask, cast: Cast) -> None:
    export_id = an_export(cast.max)
    builders.an_account("mia", is_admin=True)
    mia = browser_of(app, "mia")
    for place in ("", "/oneroster.zip"):
        assert mia.get(f"/admin/exports/{export_id}{place}").status_code == 403


def test_a_file_that_could_not_be_made_says_so_and_is_tried_again(
    boss: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    export_id = asked(boss)
    with monkeypatch.context() as trouble:
        trouble.setattr(export_jobs, "write_oneroster", lambda _out: next(iter(())))
        with pytest.raises(StopIteration):
            background.make_export(export_id)
    assert "The export failed" in page(boss, export_id)
    background.make_export(export_id)
    assert "Download (" in page(boss, export_id)


def test_a_file_is_forgotten_after_a_day(boss: FlaskClient, cast: Cast) -> None:
    export_id = an_export(cast.max)
    assert f"/admin/exports/{export_id}" in boss.get("/admin/imports").text
    with transaction() as session:
        session.execute(text("UPDATE exports SET asked_at = now() - interval '25 hours'"))
    background.delete_expired()
    assert boss.get(f"/admin/exports/{export_id}").status_code == 404
    with transaction() as session:
        assert session.scalar(select(func.count()).select_from(ExportPart)) == 0


def asked(browser: FlaskClient) -> int:
    """The id of an export that was asked for."""
    answer = browser.post("/admin/exports")
    assert answer.status_code == 303
    return int(answer.location.rpartition("/")[2])


def counted(what: str) -> int:
    """How many there are in a view of PostgreSQL's own."""
    with transaction() as session:
        return session.scalar(text(f"SELECT count(*) FROM {what}")) or 0  # noqa: S608 - ours


def page(browser: FlaskClient, export_id: int) -> str:
    return browser.get(f"/admin/exports/{export_id}").text


def entries(action: str) -> list[str]:
    """What the trail says such things were done to."""
    with transaction() as session:
        found = select(AuditEntry.subject).where(AuditEntry.action == action)
        return list(session.scalars(found.order_by(AuditEntry.id)))
