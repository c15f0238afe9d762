"""/admin/imports: send files, look at what they would change, apply it."""

import csv
import io

import pytest
from flask.testing import FlaskClient
from sqlalchemy import select, text

from portal.backend import backend
from portal.catalog.models import Section, Term
from portal.core.audit_trail import AuditEntry
from portal.core.db import transaction
from portal.exchange.importing import runs
from tests.cast import Cast
from tests.exchange.campus import Campus
from tests.exchange.enrolled import the_term
from tests.exchange.makers import (
    TERM,
    as_zip,
    change_rows,
    latest,
    page,
    press,
    sections,
    send,
    sent,
)
from tests.exchange.oneroster import moved
from tests.web.admin.sections.forms import typed


def test_what_is_sent_is_shown_and_changes_nothing(boss: FlaskClient) -> None:
    shown = page(boss, sent(boss, as_zip(Campus().section("10002"))))
    assert "Ready for review" in shown
    assert "Apply the import" in shown
    assert "Spring 2021 · 10002" in shown
    assert sections() == []


def test_applied_it_is_there_and_the_ledger_knows(boss: FlaskClient) -> None:
    import_id = sent(boss, as_zip(Campus().section("10002")))
    assert press(boss, import_id, "apply").status_code == 303
    assert "The import was applied" in page(boss, import_id)
    assert sections() == ["10001", "10002"]
    term = the_term().id
    assert len(backend().ledger.seats(term)) == 2


def test_refused_rows_are_named_with_place_reason_and_advice(boss: FlaskClient) -> None:
    campus = Campus().restriction("must_be", "level", "Graduate", crn="99")
    shown = page(boss, sent(boss, as_zip(campus)))
    assert "restrictions.csv, line 2" in shown
    assert "No section has this registration number." in shown
    assert "Add the section to sections.csv" in shown


def test_beside_the_button_stands_how_many_rows_will_not_be_imported(boss: FlaskClient) -> None:
    campus = Campus().restriction("must_be", "level", "Graduate", crn="99")
    said = "1 value or row is refused and will not be imported"
    assert said in page(boss, sent(boss, as_zip(campus)))
    boss.post(f"/admin/imports/{latest().id}/discard")
    assert "will not be imported" not in page(boss, sent(boss, as_zip(Campus())))


def test_what_was_applied_leads_on_to_what_comes_next(boss: FlaskClient) -> None:
    import_id = sent(boss, as_zip(Campus()))
    assert "Next steps" not in page(boss, import_id)
    press(boss, import_id, "apply")
    term = the_term().id
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
    runs.continue_import(latest().id)
    assert latest().state == "ready"


def test_a_semester_without_dates_gets_those_of_the_form(boss: FlaskClient) -> None:
    undated = as_zip(Campus().meets(date_start="", date_end=""))
    shown = page(boss, sent(boss, undated))
    assert "Give the first and last day of the term." in shown
    press(boss, sent(boss, undated, starts="2021-01-06", ends="2021-04-30"), "apply")
    with transaction() as session:
        found = session.execute(select(Term.starts_on, Term.ends_on)).one()
    assert [str(each) for each in found] == ["2021-01-06", "2021-04-30"]


def test_an_update_shows_each_field_before_and_after(boss: FlaskClient) -> None:
    press(boss, sent(boss, as_zip(Campus(capacity="30"))), "apply")
    import_id = sent(boss, as_zip(Campus(capacity="45", remaining="45")))
    shown = page(boss, import_id)
    assert "seats: <del>30</del> → <ins>45</ins>" in shown
    assert moved(latest().counts) == {"section": {"changed": 1}}
    press(boss, import_id, "apply")
    with transaction() as session:
        found = session.execute(select(Section.capacity, Section.version, Section.status)).one()
    assert tuple(found) == (45, 2, "OPEN")


def test_the_same_again_changes_nothing(boss: FlaskClient) -> None:
    campus = Campus().meets(instructors="Okafor", location="Hall 1").cross_list("MAT-1")
    press(boss, sent(boss, as_zip(campus)), "apply")
    sent(boss, as_zip(campus))
    assert moved(latest().counts) == {}


def test_another_number_of_students_before_the_portal_changes_nothing(boss: FlaskClient) -> None:
    press(boss, sent(boss, as_zip(Campus(capacity="30", enrolled="3", remaining="27"))), "apply")
    sent(boss, as_zip(Campus(capacity="30", enrolled="5", remaining="25")))
    assert latest().counts["section"]["changed"] == 0
    with transaction() as session:
        assert session.scalar(select(Section.prior_enrolled)) == 3


def test_sections_missing_from_the_files_stay_unless_removal_is_chosen(boss: FlaskClient) -> None:
    press(boss, sent(boss, as_zip(Campus().section("10002"))), "apply")
    press(boss, sent(boss, as_zip(Campus())), "apply")
    with transaction() as session:
        assert set(session.scalars(select(Section.status))) == {"OPEN"}
    press(boss, sent(boss, as_zip(Campus()), remove="yes"), "apply", cancels="yes")
    with transaction() as session:
        found = dict(session.execute(select(Section.crn, Section.status)).all())
    assert found == {"10001": "OPEN", "10002": "CANCELED"}


@pytest.mark.parametrize(("enrolled", "waiting"), [(1, 0), (0, 1)])
def test_a_section_with_students_or_a_waitlist_does_not_go(
    boss: FlaskClient, enrolled: int, waiting: int
) -> None:
    press(boss, sent(boss, as_zip(Campus().section("10002"))), "apply")
    with transaction() as session:
        session.execute(
            text(
                "INSERT INTO section_seats (term_id, section_id, status, capacity,"
                " waitlist_capacity, prior, enrolled, waiting, passed, kept, reserved,"
                " reserves, seq)"
                " SELECT term_id, id, 'OPEN', 30, 10, 0, :enrolled, :waiting, 0, 0, '{}', '[]', 1"
                " FROM sections"
            ),
            {"enrolled": enrolled, "waiting": waiting},
        )
    import_id = sent(boss, as_zip(Campus()), remove="yes")
    assert "Students are enrolled in this section" in page(boss, import_id)
    assert latest().counts["section"]["removed"] == 0


def test_a_section_with_seats_taken_before_it_came_here_does_not_go(boss: FlaskClient) -> None:
    press(boss, sent(boss, as_zip(Campus().section("10002", enrolled="3"))), "apply")
    import_id = sent(boss, as_zip(Campus()), remove="yes")
    assert "Students are enrolled in this section" in page(boss, import_id)
    assert latest().counts["section"]["removed"] == 0


def test_the_audit_entry_has_account_files_and_counts(boss: FlaskClient, cast: Cast) -> None:
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
    output = boss.get(f"/admin/imports/{import_id}/report.csv")
    rows = list(csv.DictReader(io.StringIO(output.text.lstrip("\ufeff"))))
    assert {"refused", "added"} <= {row["action"] for row in rows}
    assert not any(cell.startswith(("=", "+", "@")) for row in rows for cell in row.values())
    assert output.mimetype == "text/csv"


def test_a_preview_that_is_out_of_date_is_not_applied(boss: FlaskClient) -> None:
    press(boss, sent(boss, as_zip(Campus(capacity="30"))), "apply")
    import_id = sent(boss, as_zip(Campus(capacity="45", remaining="45")))
    change_rows(Section, title="Edited meanwhile")
    press(boss, import_id, "apply")
    assert "has changed since the preview" in page(boss, import_id)
    with transaction() as session:
        assert session.scalar(select(Section.capacity)) == 30
    press(boss, import_id, "again")
    assert "Ready for review" in page(boss, import_id)


def test_an_empty_file_that_is_sent_is_named(boss: FlaskClient) -> None:
    send(boss, b"", "empty.csv")
    runs.continue_import(latest().id)
    assert "empty.csv is empty." in page(boss, latest().id)


def test_missing_dates_of_a_term_are_given_on_the_page_of_the_failed_import(
    boss: FlaskClient,
) -> None:
    import_id = sent(boss, as_zip(Campus().meets(date_start="", date_end="")))
    shown = page(boss, import_id)
    assert "No meeting has dates that can be used. Give the first and last day" in shown
    assert "--starts" not in shown
    again = f"/admin/imports/{import_id}/again"
    for day, dates in (
        ("last", {"starts": "2021-01-06"}),
        ("first", {"starts": "x", "ends": "2021-04-30"}),
    ):
        refused = boss.post(again, data=dates)
        assert refused.status_code == 422
        assert f"Enter the {day} day as a date such as 2026-08-31." in refused.text
        assert refused.text.count('class="errors"') == 1  # what to do, not what failed
    reversed_ = boss.post(again, data={"starts": "2021-04-30", "ends": "2021-01-06"})
    assert "The last day is before the first day." in reversed_.text
    boss.post(again, data={"starts": "2021-01-06", "ends": "2021-04-30"})
    runs.continue_import(import_id)
    assert latest().state == "ready"
    press(boss, import_id, "apply")
    with transaction() as session:
        [term] = session.scalars(select(Term).filter_by(name=TERM))
    assert (f"{term.starts_on}", f"{term.ends_on}") == ("2021-01-06", "2021-04-30")


def test_a_new_section_is_not_offered_the_number_of_a_canceled_one(boss: FlaskClient) -> None:
    files = Campus().section("10002", status="Cancelled").section("10004", status="Cancelled")
    press(boss, sent(boss, as_zip(files)), "apply")
    with transaction() as session:
        found = session.scalars(select(Section)).one()
    address = f"/admin/terms/{found.term_id}/sections/new?course={found.course_id}"
    assert typed(boss.get(address).text, "crn") == "10003"
