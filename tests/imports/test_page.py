"""/admin/imports: send files, look at what they would change, apply it."""

import csv
import io

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import func, select, text, update
from sqlalchemy.exc import OperationalError

from portal.backend import backend
from portal.catalog.models import Course, Section, Term
from portal.db import Sessions, transaction
from portal.imports import book, run, work
from portal.imports.failure import ImportFailed
from portal.imports.models import Import, ImportChange, ImportPart, ImportRow
from portal.people.models import AuditEntry
from tests import cast as builders
from tests.cast import Cast
from tests.imports.campus import Campus
from tests.imports.makers import TERM, an_import, as_zip, latest, page, press, send, sent
from tests.plans import outages
from tests.web.visitors import browser_of


@pytest.fixture
def boss(app: Flask, cast: Cast) -> FlaskClient:  # noqa: ARG001
    return browser_of(app, "max")


def sections() -> list[str]:
    with transaction() as session:
        return sorted(session.scalars(select(Section.crn)))


def test_what_is_sent_is_shown_and_changes_nothing(boss: FlaskClient) -> None:
    shown = page(boss, sent(boss, as_zip(Campus().section("10002"))))
    assert "To be looked at" in shown
    assert "Apply all of it" in shown
    assert "Spring 2021 · 10002" in shown
    assert sections() == []


def test_applied_it_is_there_and_the_ledger_knows(boss: FlaskClient) -> None:
    import_id = sent(boss, as_zip(Campus().section("10002")))
    assert press(boss, import_id, "apply").status_code == 303
    assert "All of it was applied" in page(boss, import_id)
    assert sections() == ["10001", "10002"]
    with transaction() as session:
        term = session.scalars(select(Term.id)).one()
    assert len(backend().ledger.seats(term)) == 2


def test_refused_rows_are_named_with_place_reason_and_advice(boss: FlaskClient) -> None:
    campus = Campus().restriction("must_be", "level", "Graduate", crn="99")
    shown = page(boss, sent(boss, as_zip(campus)))
    assert "restrictions.csv, line 2" in shown
    assert "No section has this registration number." in shown
    assert "Add the section to sections.csv" in shown


def test_beside_the_button_stands_how_many_rows_will_not_be_imported(boss: FlaskClient) -> None:
    campus = Campus().restriction("must_be", "level", "Graduate", crn="99")
    said = "1 row is refused and will not be imported"
    assert said in page(boss, sent(boss, as_zip(campus)))
    boss.post(f"/admin/imports/{latest().id}/discard")
    assert "will not be imported" not in page(boss, sent(boss, as_zip(Campus())))


def test_what_was_applied_leads_on_to_what_comes_next(boss: FlaskClient) -> None:
    import_id = sent(boss, as_zip(Campus()))
    assert "What comes next" not in page(boss, import_id)
    press(boss, import_id, "apply")
    with transaction() as session:
        term = session.scalars(select(Term.id)).one()
    shown = page(boss, import_id)
    for place in (f"/admin/terms/{term}/sections", f"/admin/terms/{term}/windows/new"):
        assert f'href="{place}"' in shown
        assert boss.get(place).status_code == 200
    assert 'href="/admin/students"' in shown


def test_several_files_may_be_sent_without_a_zip(boss: FlaskClient, tmp_path: object) -> None:
    folder = Campus().write(tmp_path)  # type: ignore[arg-type]
    files = [(io.BytesIO(each.read_bytes()), each.name) for each in sorted(folder.iterdir())]
    form = {"layout": "semester", "term": TERM, "files": files}
    assert boss.post("/admin/imports", data=form).status_code == 303
    run.go_on(latest().id)
    assert latest().state == "ready"


def test_a_semester_without_dates_gets_those_of_the_form(boss: FlaskClient) -> None:
    undated = as_zip(Campus().meets(date_start="", date_end=""))
    shown = page(boss, sent(boss, undated))
    assert "give the term’s first and last day, in the form" in shown
    press(boss, sent(boss, undated, starts="2021-01-06", ends="2021-04-30"), "apply")
    with transaction() as session:
        found = session.execute(select(Term.starts_on, Term.ends_on)).one()
    assert [str(each) for each in found] == ["2021-01-06", "2021-04-30"]


def test_an_update_shows_each_field_before_and_after(boss: FlaskClient) -> None:
    press(boss, sent(boss, as_zip(Campus(capacity="30"))), "apply")
    import_id = sent(boss, as_zip(Campus(capacity="45", remaining="45")))
    shown = page(boss, import_id)
    assert "seats: <del>30</del> → <ins>45</ins>" in shown
    assert latest().counts["section"] == {
        "added": 0,
        "restored": 0,
        "changed": 1,
        "removed": 0,
        "unchanged": 0,
    }
    press(boss, import_id, "apply")
    with transaction() as session:
        found = session.execute(select(Section.capacity, Section.version, Section.status)).one()
    assert tuple(found) == (45, 2, "OPEN")


def test_the_same_again_changes_nothing(boss: FlaskClient) -> None:
    campus = Campus().meets(instructors="Okafor", location="Hall 1").cross_list("MAT-1")
    press(boss, sent(boss, as_zip(campus)), "apply")
    sent(boss, as_zip(campus))
    moved = ("added", "restored", "changed", "removed")
    assert not any(each[change] for each in latest().counts.values() for change in moved)


def test_sections_that_are_not_named_stay_unless_asked_to_go(boss: FlaskClient) -> None:
    press(boss, sent(boss, as_zip(Campus().section("10002"))), "apply")
    press(boss, sent(boss, as_zip(Campus())), "apply")
    with transaction() as session:
        assert set(session.scalars(select(Section.status))) == {"OPEN"}
    press(boss, sent(boss, as_zip(Campus()), remove="yes"), "apply")
    with transaction() as session:
        found = dict(session.execute(select(Section.crn, Section.status)).all())
    assert found == {"10001": "OPEN", "10002": "CANCELED"}


def test_a_section_in_which_somebody_is_does_not_go(boss: FlaskClient) -> None:
    press(boss, sent(boss, as_zip(Campus().section("10002"))), "apply")
    with transaction() as session:
        session.execute(
            text(
                "INSERT INTO section_seats (term_id, section_id, status, capacity,"
                " waitlist_capacity, prior, enrolled, waiting, passed, kept, reserved,"
                " reserves, seq)"
                " SELECT term_id, id, 'OPEN', 30, 10, 0, 1, 0, 0, 0, '{}', '[]', 1 FROM sections"
            )
        )
    import_id = sent(boss, as_zip(Campus()), remove="yes")
    assert "Somebody is in this section" in page(boss, import_id)
    assert latest().counts["section"]["removed"] == 0


def test_the_audit_says_who_what_and_how_much(boss: FlaskClient, cast: Cast) -> None:
    import_id = sent(boss, as_zip(Campus()))
    press(boss, import_id, "apply")
    with transaction() as session:
        entry = session.scalars(select(AuditEntry)).one()
    assert (entry.account_id, entry.action) == (cast.max.id, "import.apply")
    assert entry.after
    assert entry.after["sha256"] == latest().sha256
    assert entry.after["counts"]["section"]["added"] == 1


def test_the_report_is_a_table_without_formulas(boss: FlaskClient) -> None:
    campus = Campus(section_title="=1+1").restriction("must_be", "level", "=1+1", crn="99")
    import_id = sent(boss, as_zip(campus))
    told = boss.get(f"/admin/imports/{import_id}/report.csv")
    rows = list(csv.DictReader(io.StringIO(told.text.lstrip("\ufeff"))))
    assert {"refused", "added"} <= {row["action"] for row in rows}
    assert not any(cell.startswith(("=", "+", "@")) for row in rows for cell in row.values())
    assert told.mimetype == "text/csv"


def test_a_preview_that_is_out_of_date_is_not_applied(boss: FlaskClient) -> None:
    press(boss, sent(boss, as_zip(Campus(capacity="30"))), "apply")
    import_id = sent(boss, as_zip(Campus(capacity="45", remaining="45")))
    with transaction() as session:
        session.execute(update(Section).values(title="Edited meanwhile"))
    press(boss, import_id, "apply")
    assert "has changed since the preview was made" in page(boss, import_id)
    with transaction() as session:
        assert session.scalar(select(Section.capacity)) == 30
    press(boss, import_id, "again")
    assert "To be looked at" in page(boss, import_id)


def test_an_import_that_the_database_refuses_is_half_done_in_nothing_and_says_why(
    boss: FlaskClient, nobody_may_teach: None
) -> None:
    assert nobody_may_teach is None
    import_id = sent(boss, as_zip(Campus().meets(instructors="Okafor")))
    press(boss, import_id, "apply")
    shown = page(boss, import_id)
    assert "Who teaches what: the database has no place for something in the files." in shown
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
        outage.setattr(work, "PATIENCE", "SELECT pg_terminate_backend(pg_backend_pid())")
        with pytest.raises(OperationalError):
            run.go_on(import_id)
    assert latest().state == "applying"
    with transaction() as session:
        session.execute(text("UPDATE imports SET moved_at = now() - interval '1 minute'"))
    assert "Interrupted" in page(boss, import_id)
    press(boss, import_id, "resume")
    assert sections() == ["10001"]


def test_two_at_once_are_refused_and_it_is_said_whose(boss: FlaskClient) -> None:
    send(boss, as_zip(Campus()))
    answer = send(boss, as_zip(Campus()), name="other.zip")
    assert answer.status_code == 409
    assert "Another import is under way: spring.zip (Max)" in answer.text


def test_one_that_is_at_work_can_not_be_given_up(boss: FlaskClient) -> None:
    send(boss, as_zip(Campus()))
    import_id = latest().id
    with Sessions.begin() as worker:
        assert book.lock(worker)
        boss.post(f"/admin/imports/{import_id}/discard")
        assert latest().state == "waiting"
    boss.post(f"/admin/imports/{import_id}/discard")
    assert latest().state == "discarded"


def test_given_up_nothing_of_it_is_kept(boss: FlaskClient) -> None:
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
    assert "spring.zip is no zip that can be read" in shown  # why it failed stays
    assert "Read the files again" not in shown
    boss.post(f"/admin/imports/{import_id}/again")
    assert latest().state == "failed"


def test_what_was_applied_is_told_in_full_for_a_day(boss: FlaskClient) -> None:
    import_id = sent(boss, as_zip(Campus()))
    press(boss, import_id, "apply")
    with transaction() as session:
        session.execute(text("UPDATE imports SET expires_at = now()"))
    boss.get("/admin/imports")
    assert "All of it was applied" in page(boss, import_id)
    with transaction() as session:
        assert session.scalar(select(func.count()).select_from(ImportChange)) == 0


def test_only_who_sent_it_applies_it(app: Flask, cast: Cast) -> None:
    import_id = an_import(cast.max)
    builders.an_account("mia", is_admin=True)
    mia = browser_of(app, "mia")
    assert "Max, who sent it, may apply it" in page(mia, import_id)
    assert mia.post(f"/admin/imports/{import_id}/apply").status_code == 403
    assert latest().state == "ready"


def test_the_page_asks_how_far_it_is_until_there_is_more_to_see(boss: FlaskClient) -> None:
    send(boss, as_zip(Campus()))
    here = f"/admin/imports/{latest().id}"
    shown = boss.get(here).text
    assert '<noscript><meta http-equiv="refresh"' in shown
    assert "Waiting for a worker" in boss.get(f"{here}/progress?seen=waiting").text
    run.go_on(latest().id)
    answer = boss.get(f"{here}/progress?seen=waiting")
    assert (answer.status_code, answer.headers["HX-Refresh"]) == (204, "true")


def test_the_page_says_so_while_the_database_is_away(boss: FlaskClient) -> None:
    send(boss, as_zip(Campus()))
    here = f"/admin/imports/{latest().id}/progress?seen=waiting"
    outages.settled()
    assert "Waiting for a worker" in boss.get(here).text
    with outages.away():
        answer = boss.get(here)
    assert answer.status_code == 200
    assert "the database does not answer" in answer.text
    assert "seen=waiting" in answer.text  # so that it goes on asking for the same
    assert "Waiting for a worker" in boss.get(here).text


@pytest.mark.parametrize(
    ("form", "message"),
    [
        ({"term": ""}, "Give the term a name"),
        ({"term": "x" * 81}, "Give the term a name"),
        ({"waitlist": "lots"}, "Give a whole number"),
        ({"starts": "31.8.2026"}, "Give a day such as"),
        ({"layout": "pdf"}, "Choose what the files are"),
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
    assert "spring.zip is no zip that can be read" in page(boss, import_id)
    with transaction() as session:
        assert session.scalar(select(Import.busy)) is None


def test_a_failure_is_told_in_the_language_of_its_reader(boss: FlaskClient) -> None:
    import_id = sent(boss, b"PK but no zip")
    failure = ImportFailed("Give a whole number from 0 to %(most)s.", most=9)
    with transaction() as session:
        session.execute(update(Import).values(error=failure.kept))
    spanish = {"Accept-Language": "es"}
    shown = boss.get(f"/admin/imports/{import_id}", headers=spanish).text
    assert "número entero de 0 a 9" in shown
