"""Statuses that are edited in an export: published, confirmed and canceled as on the pages."""

from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient
from sqlalchemy import select

from portal.backend import backend
from portal.catalog.models import Section, Term
from portal.catalog.sections import SeenSection, change_status
from portal.core.audit_trail import AuditEntry
from portal.core.db import transaction
from portal.exchange.importing import runs, statuses
from portal.exchange.importing.report import Report
from portal.recorder.recorder import drain
from tests import cast as builders
from tests import commands, register
from tests.cast import Cast
from tests.exchange.makers import change_rows, latest, page, press, sent, zip_of
from tests.exchange.semester_files import exported, set_section, updated
from tests.exchange.semester_files import section as the
from tests.notifications.stories import notices

TERM = "Fall 2030"  # of the builders
Statuses = dict[str, str]


@pytest.fixture
def term(cast: Cast) -> Term:  # noqa: ARG001
    return builders.a_term(TERM)


@pytest.fixture
def offered(term: Term) -> Statuses:
    """A draft, an open and a confirmed section by registration number, each with times."""
    meets = (builders.Meets("MR"),)
    for crn, status in (("1", "NEW"), ("2", "OPEN"), ("3", "CONFIRMED")):
        course = builders.a_course(f"CSC-{crn}")
        builders.a_section(course, term, crn=crn, status=status, meetings=meets)
    return stored()


@pytest.fixture
def files(tmp_path: Path, offered: Statuses) -> Path:
    assert offered
    return exported(tmp_path / "out", TERM)


def stored() -> Statuses:
    with transaction() as session:
        return dict(session.execute(select(Section.crn, Section.status)).all())


def edit(files: Path, **wanted: str) -> None:
    """Edit the statuses of sections 1, 2 and 3."""
    for name, status in wanted.items():
        set_section(files, "status", status, name.removeprefix("of_"))


def applied(files: Path, **options: Any) -> tuple[dict[str, Any], Report]:
    return updated(files, term=TERM, **options)


def previewed(files: Path, boss: FlaskClient) -> int:
    return sent(boss, zip_of(files), term=TERM)


def acts() -> list[tuple[str, int | None, str]]:
    with transaction() as session:
        found = select(AuditEntry).where(AuditEntry.action.startswith("section."))
        return [
            (each.action, each.account_id, each.reason)
            for each in session.scalars(found.order_by(AuditEntry.id))
        ]


def in_ledger(crn: str) -> str:
    section = the(crn)
    found = backend().ledger.seats_of(section.term_id, [section.id])
    return found[section.id].status


@pytest.mark.parametrize(
    ("edited", "status", "action"),
    [
        ({"1": "Open"}, "OPEN", "publish"),
        ({"2": "confirmed"}, "CONFIRMED", "confirm"),
        ({"3": "Open"}, "OPEN", "reopen"),
        ({"2": "Canceled"}, "CANCELED", "cancel"),
        ({"3": "CANCELLED"}, "CANCELED", "cancel"),
        ({"3": "cancel"}, "CANCELED", "cancel"),
    ],
)
def test_an_edited_status_is_applied_as_the_page_would(
    files: Path, offered: Statuses, edited: Statuses, status: str, action: str
) -> None:
    [(crn, word)] = edited.items()
    edit(files, **{f"of_{crn}": word})
    changes, report = applied(files, cancels=True)
    assert changes == {"status": {"changed": 1}}, report.notes
    assert stored() == offered | {crn: status}
    assert in_ledger(crn) == status
    [(name, by, reason)] = acts()
    assert (name, by) == (f"section.{action}", None)
    assert reason == f"Import {latest().id}: out"
    assert applied(files, cancels=True)[0] == {}  # it is done


def test_the_rest_of_the_row_is_imported_too(files: Path) -> None:
    edit(files, of_1="Open")
    set_section(files, "capacity", "44", "1")
    assert applied(files)[0] == {"section": {"changed": 1}, "status": {"changed": 1}}
    assert (the("1").status, the("1").capacity) == ("OPEN", 44)
    assert in_ledger("1") == "OPEN"


@pytest.mark.parametrize("word", ["Cancelled - low enrollment", "Cancelled?", "Not canceled"])
def test_a_status_that_is_not_plainly_canceled_is_named_and_the_rest_imported(
    files: Path, offered: Statuses, word: str
) -> None:
    edit(files, of_2=word)
    set_section(files, "capacity", "44", "2")
    changes, report = applied(files)
    assert changes == {"section": {"changed": 1}}
    [note] = report.of("status")
    assert (note.key, note.column, note.value) == ("2", "status", word)
    assert "another one keeps its status" in note.why
    assert (stored(), the("2").capacity) == (offered, 44)


@pytest.mark.parametrize(
    ("crn", "word", "why"),
    [
        ("1", "Confirmed", "A draft can’t be confirmed."),
        ("1", "Canceled", "A draft can’t be canceled."),
        ("2", "Draft", "Imports don’t make sections drafts."),
        ("3", "Draft", "Imports don’t make sections drafts."),
    ],
)
def test_what_the_pages_refuse_is_refused(
    files: Path, offered: Statuses, crn: str, word: str, why: str
) -> None:
    edit(files, **{f"of_{crn}": word})
    changes, report = applied(files, cancels=True)
    assert changes == {}
    [note] = report.of("status_refused")
    assert (note.key, note.column, note.value, note.action) == (crn, "status", word, "refused")
    assert why in note.why
    assert stored() == offered


def test_a_draft_is_not_published_while_its_rules_cannot_be_read(
    files: Path, offered: Statuses
) -> None:
    edit(files, of_1="Open")
    (files / "restrictions.csv").write_text("crn,rule,kind,value\n1,must_be,mood,X\n")
    changes, report = applied(files)
    assert not changes.get("status")
    [note] = report.of("status_refused")
    assert "Some of its values can’t be read." in note.why
    assert stored() == offered


@pytest.mark.parametrize("word", ["Closed", "Full", "Pending", "X", "A"])
def test_a_word_that_is_no_status_of_an_export_changes_nothing(
    files: Path, offered: Statuses, word: str
) -> None:
    edit(files, of_1=word, of_2=word, of_3=word)
    changes, report = applied(files, cancels=True)
    assert changes == {}
    assert len(report.of("status")) == 3
    assert stored() == offered


def test_a_status_that_changed_here_after_the_export_stays_and_is_shown(files: Path) -> None:
    change_rows(Section, Section.crn == "2", status="CONFIRMED")
    edit(files, of_2="Canceled", of_1="Open")
    changes, report = applied(files, cancels=True)
    assert changes == {"status": {"changed": 1}}
    [note] = report.of("stale")
    assert (note.key, note.column, note.value) == ("2", "status", "Canceled")
    assert "Here: “Confirmed”." in note.why
    assert the("2").status == "CONFIRMED"
    changes, report = applied(files, cancels=True, overwrite=True)
    assert len(report.of("overwritten")) == 1
    assert the("2").status == "CANCELED"


def test_a_status_without_the_exported_one_beside_it_is_named(files: Path) -> None:
    edit(files, of_2="Confirmed")
    set_section(files, "revision", "abc", "2")
    _changes, report = applied(files)
    [note] = report.of("status_unchanged")
    assert "Here: “Open”." in note.why
    assert the("2").status == "OPEN"


def test_every_section_may_be_canceled(files: Path) -> None:
    edit(files, of_2="Canceled", of_3="Canceled")
    set_section(files, "crn", "99", "1")  # no draft among them
    set_section(files, "status", "Canceled", "99")
    assert applied(files, cancels=True, remove=True)[0]["status"] == {"changed": 2}
    assert stored()["2"] == stored()["3"] == "CANCELED"


def test_other_files_and_a_new_portal_read_the_status_as_before(files: Path) -> None:
    edit(files, of_2="Canceled")
    changes, report = updated(files, term="Fall 2030 again", cancels=True)
    assert changes["section"] == {"added": 2}
    assert [note.key for note in report.of("canceled")] == ["2"]


@pytest.fixture
def taken(term: Term, offered: Statuses, cast: Cast) -> Section:
    """Section 2 has two seats: Ada and Ben have them, and Cleo waits."""
    assert offered
    builders.an_open_window(term)
    found = the("2")
    for student in (cast.ada, cast.ben):
        register.claim(student.id, term.id, found.id)
    register.claim(cast.cleo.id, term.id, found.id, wait=True)
    drain(term.id)
    return found


def test_sections_are_canceled_only_if_that_is_ticked(
    tmp_path: Path, taken: Section, boss: FlaskClient, cast: Cast
) -> None:
    files = exported(tmp_path / "out", TERM)
    edit(files, of_1="Open", of_2="Canceled")
    import_id = previewed(files, boss)
    shown = page(boss, import_id)
    assert "1 section is published." in shown
    assert "1 section is canceled." in shown
    assert "2 students lose a seat. 1 student loses a waitlist position." in shown
    assert "Each student is notified at once" in shown
    for name in ("Ada", "Ben", "Cleo"):
        assert name in shown
    press(boss, import_id, "apply")
    assert latest().state == "ready"
    assert "Tick the box to confirm that sections are canceled." in page(boss, import_id)
    assert stored()["1"] == "NEW"
    boss.post(f"/admin/imports/{import_id}/apply", data={"cancels": "yes"})
    runs.continue_import(import_id)
    assert latest().state == "done", latest().error
    assert (stored()["1"], stored()["2"]) == ("OPEN", "CANCELED")
    assert [(action, by) for action, by, _reason in acts()] == [
        ("section.publish", cast.max.id),
        ("section.cancel", cast.max.id),
    ]
    drain(taken.term_id)
    told = {each.account_id for each in notices() if each.kind == "section_canceled"}
    assert len(told) == 3
    section = boss.get(f"/admin/terms/{taken.term_id}/sections/{taken.id}").text
    assert "spring.zip" in section


def test_a_section_that_changed_after_the_preview_stops_all(
    files: Path, boss: FlaskClient, cast: Cast
) -> None:
    edit(files, of_1="Open", of_2="Confirmed")
    import_id = previewed(files, boss)
    found = the("2")
    seen = SeenSection(found.term_id, found.id, found.version)
    change_status("confirm", [seen], cast.max.id)
    press(boss, import_id, "apply")
    assert latest().state == "failed"
    assert "changed since the preview" in page(boss, import_id)
    assert stored()["1"] == "NEW"


def test_a_failure_in_the_middle_leaves_nothing_behind(
    files: Path, offered: Statuses, boss: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    edit(files, of_1="Open", of_2="Canceled", of_3="Open")
    import_id = previewed(files, boss)
    act, done = statuses.sections.change_status_within, list[str]()

    def fail_at_the_third(session: Any, action: str, *rest: Any) -> None:
        done.append(action)
        if len(done) > 2:
            raise RuntimeError(action)
        act(session, action, *rest)

    monkeypatch.setattr(statuses.sections, "change_status_within", fail_at_the_third)
    boss.post(f"/admin/imports/{import_id}/apply", data={"cancels": "yes"})
    runs.continue_import(import_id)
    assert (latest().state, len(done)) == ("failed", 3)
    assert stored() == offered
    assert acts() == []
    assert in_ledger("2") == "OPEN"


def test_the_command_asks_before_it_cancels(tmp_path: Path, files: Path) -> None:
    edit(files, of_2="Canceled")
    arguments = ("import", str(files), "--term", TERM, "--update")
    path = ("--report", str(tmp_path / "report.csv"))
    refused = commands.run(*arguments, *path)
    assert refused.returncode == 1
    assert "These files cancel sections. Confirm that to apply them. Use --cancel-sections." in (
        " ".join(refused.stderr.split())
    )
    assert stored()["2"] == "OPEN"
    done = commands.run(*arguments, *path, "--cancel-sections")
    assert done.returncode == 0, done.stderr
    assert stored()["2"] == "CANCELED"
