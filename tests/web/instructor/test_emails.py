"""GET /teaching/sections/<id>/emails."""

import re
from html import unescape
from itertools import chain
from urllib.parse import parse_qs, urlsplit

import pytest
from flask import Flask

from portal.catalog.models import Section
from portal.reports.rosters import LONGEST_LINK, Person, mailing
from tests.cast import Cast, a_course, a_section, a_term
from tests.web.instructor.rosters import SINCE, enrolled, private, reached_at, waiting
from tests.web.visitors import browser_of

AREA = re.compile(r"<textarea[^>]*>([^<]*)<")


@pytest.fixture
def section(app: Flask, cast: Cast) -> Section:
    """Iris teaches Ada and Ben; Cleo waits."""
    assert app
    section = a_section(a_course("CSC-1100"), a_term(), instructor=cast.iris)
    enrolled(section, cast.ada)
    enrolled(section, cast.ben)
    waiting(section, cast.cleo, 7)
    for student, name in ((cast.ada, "ada"), (cast.ben, "ben"), (cast.cleo, "cleo")):
        reached_at(student, f"{name}@u.example")
    return section


def page(app: Flask, section: Section, to: str = "") -> str:
    answer = browser_of(app, "iris").get(f"/teaching/sections/{section.id}/emails?to={to}")
    return unescape(answer.text)


def somebody(email: str, *, private: bool = False) -> Person:
    return Person(1, "S", "N1", "", (), email, private, 400, SINCE)


@pytest.mark.parametrize(
    ("to", "expected"),
    [
        ("", ["ada", "ben"]),
        ("enrolled", ["ada", "ben"]),
        ("waiting", ["cleo"]),
        ("all", ["ada", "ben", "cleo"]),
    ],
)
def test_recipients_can_be_chosen(
    app: Flask, section: Section, to: str, expected: list[str]
) -> None:
    (found,) = AREA.findall(page(app, section, to))
    assert found == ", ".join(f"{name}@u.example" for name in expected)


def test_mail_to_all_hides_its_recipients(app: Flask, section: Section) -> None:
    assert 'href="mailto:?bcc=ada@u.example,ben@u.example"' in page(app, section)


def test_students_with_privacy_are_left_out_and_counted(
    app: Flask, section: Section, cast: Cast
) -> None:
    private(cast.ada)
    shown = page(app, section, "all")
    assert "ada@" not in shown
    assert "1 student has asked for privacy" in shown


def test_students_without_an_address_are_counted(app: Flask, section: Section, cast: Cast) -> None:
    reached_at(cast.ben, "")
    assert "We have no email address for 1 student." in page(app, section)


def test_large_class_is_split_into_several_mails() -> None:
    addresses = [f"student.number.{number:04}@university.example" for number in range(300)]
    found = mailing(map(somebody, addresses))
    assert all(len(each.url) <= LONGEST_LINK for each in found.letters)
    result = [parse_qs(urlsplit(each.url).query)["bcc"][0].split(",") for each in found.letters]
    assert list(chain(*result)) == addresses
    spans = [(each.first, each.last) for each in found.letters]
    assert spans[0][0] == 1
    assert spans[-1][1] == len(addresses)
    assert [later[0] for later in spans[1:]] == [former[1] + 1 for former in spans[:-1]]


@pytest.mark.parametrize(
    "email", ["", "nobody", "a@b,c@d", "a@b\nBcc: c@d", "a b@c", "<a@b>", "a@b@c", "a@b;c@d"]
)
def test_invalid_addresses_are_left_out(email: str) -> None:
    assert mailing([somebody(email)]).addresses == ()


def test_address_cannot_add_mail_headers() -> None:
    (letter,) = mailing([somebody("a&body=x?%#@u.example")]).letters
    assert parse_qs(urlsplit(letter.url).query) == {"bcc": ["a&body=x?%#@u.example"]}


def test_no_student_is_addressed_twice() -> None:
    assert len(mailing([somebody("a@u.example"), somebody("a@u.example")]).addresses) == 1
