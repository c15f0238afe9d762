"""GET /teaching/sections/<id>/roster.csv."""

import csv
from io import StringIO

import pytest
from flask import Flask

from portal.catalog.models import Section
from portal.core.db import transaction
from portal.exchange.spreadsheets import plain
from portal.people.models import Account, Student
from tests.cast import Cast, a_course, a_section, a_term
from tests.web.instructor.rosters import enrolled, private, reached_at, waiting
from tests.web.visitors import browser_of


@pytest.fixture
def section(app: Flask, cast: Cast) -> Section:
    """Iris teaches Ada, and Ben waits."""
    assert app
    section = a_section(a_course("CSC-1100"), a_term(), instructor=cast.iris)
    enrolled(section, cast.ada)
    waiting(section, cast.ben, 7)
    reached_at(cast.ada, "ada@u.example")
    return section


def rows(app: Flask, section: Section, who: str = "iris") -> list[list[str]]:
    answer = browser_of(app, who).get(f"/teaching/sections/{section.id}/roster.csv")
    assert answer.mimetype == "text/csv"
    text = answer.data.decode("utf-8-sig")
    return list(csv.reader(StringIO(text)))


def named(student: Student, name: str) -> None:
    with transaction() as session:
        session.get_one(Account, student.account_id).name = name


def test_file_has_all_students_with_their_positions(
    app: Flask, section: Section, cast: Cast
) -> None:
    head, ada, ben = rows(app, section)
    assert head[:7] == ["List", "Position", "Name", "Number", "Year", "Major", "Email"]
    assert ada == [
        *("Roster", "", "Ada", cast.ada.number, "Freshman", "", "ada@u.example"),
        *("4", "2030-03-01 09:00:05", ""),
    ]
    assert ben[:4] == ["Waitlist", "1", "Ben", cast.ben.number]


def test_file_is_named_after_the_section(app: Flask, section: Section) -> None:
    answer = browser_of(app, "iris").get(f"/teaching/sections/{section.id}/roster.csv")
    disposition = answer.headers["Content-Disposition"]
    assert disposition == "attachment; filename=Fall-2030-CSC-1100-01.csv"
    assert answer.data.startswith(b"\xef\xbb\xbf")
    assert "no-store" in answer.headers["Cache-Control"]


@pytest.mark.parametrize("name", ["Ñandú Ōe", "李雷", "עדה", "Ada “A.” O'Neil, Jr."])
def test_names_of_any_script_are_kept(app: Flask, section: Section, cast: Cast, name: str) -> None:
    named(cast.ada, name)
    assert rows(app, section)[1][2] == name


@pytest.mark.parametrize("name", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", " =1", "\r=1"])
def test_names_are_no_spreadsheet_formulas(
    app: Flask, section: Section, cast: Cast, name: str
) -> None:
    named(cast.ada, name)
    assert rows(app, section)[1][2].startswith("'")


def test_plain_texts_are_unchanged() -> None:
    assert [plain(each) for each in ("", "Ada", "a=b", "4")] == ["", "Ada", "a=b", "4"]


def test_private_data_is_only_for_the_registrar(app: Flask, section: Section, cast: Cast) -> None:
    private(cast.ada)
    assert rows(app, section)[1][2:7] == ["Ada", cast.ada.number, "", "", ""]
    assert rows(app, section)[1][-1] == "private"
    assert rows(app, section, "max")[1][6] == "ada@u.example"
