"""GET /terms/<t>: what all students see alike is rendered once, and each gets their own page."""

import random
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import update

from portal.backend import backend
from portal.catalog import term_catalog
from portal.catalog.models import Section, Term
from portal.core import flags
from portal.core.db import transaction
from portal.notifications import inbox
from portal.people import holds, student_profile
from portal.people.holds import NewHold
from portal.people.models import Student
from portal.registration import limits
from portal.registration.plan_store import PlanRow, change
from portal.registration.plans import Plan, pack
from portal.registration.requests import Choice, SectionRequest
from portal.web.http import shared_pages
from portal.web.student import fragments, plan_panel, section_list
from tests import cast as builders
from tests.cast import Cast, Meets
from tests.ledger_claims import claim
from tests.statements import ledger_commands
from tests.web.pages import words
from tests.web.student.plans import panel
from tests.web.visitors import browser_of, without_token

DAYS = 24 * 60  # minutes; no text about a window of many days changes during a test
EVERY_TIME = re.compile(
    r'data-now="\d+"|name="request" value="\w+"|http-equiv="refresh" content="\d+"'
)
TOKEN = re.compile(r'name="csrf_token" value="([^".]+)')
QUERIES = ("", "?q=calculus", "?subject=CSC&days=M", "?open=1", "?fits=1", "?page=2", "?q=zzz")
LANGUAGES = ("en", "es")


@contextmanager
def without_caches() -> Iterator[None]:
    """Render everything anew."""
    usual = flags._off  # noqa: SLF001  as if an admin had switched it off
    flags._off = frozenset({"caches"})  # noqa: SLF001
    for kept in (section_list._row, fragments._no_classes, plan_panel._draw_empty):  # noqa: SLF001
        kept.cache_clear()  # type: ignore[attr-defined]
    try:
        yield
    finally:
        flags._off = usual  # noqa: SLF001


def read(client: FlaskClient, term: Term, query: str = "", language: str = "en") -> str:
    answer = client.get(f"/terms/{term.id}{query}", headers={"Accept-Language": language})
    assert answer.status_code == 200
    return answer.text


def lasting(page: str) -> str:
    """Return what of a page is the same each time."""
    return EVERY_TIME.sub("", without_token(page))


class Semester:
    """Two students and what may happen to them, in an order drawn at random."""

    def __init__(self, app: Flask, cast: Cast, dice: random.Random) -> None:
        self.cast, self.dice = cast, dice
        self.students = {"ada": browser_of(app, "ada"), "ben": browser_of(app, "ben")}
        self.term = builders.a_term()
        builders.a_coming_window(self.term, 5 * DAYS)
        self.sections = [self._section(number) for number in range(45)]

    def go_on(self) -> None:
        """Let one thing happen."""
        acts = (self.edit, self.add, self.hold, self.claim, self.plan, self.open, self.resize)
        self.dice.choice(acts)()
        # Rather than wait until the processes have noticed.
        student_profile._profiles.clear()  # noqa: SLF001
        term_catalog._catalogs.clear()  # noqa: SLF001
        inbox._boxes.clear()  # noqa: SLF001
        limits.forget_windows()

    def edit(self) -> None:
        section, title = self.dice.choice(self.sections), f"Calculus {self.dice.random()}"
        with transaction() as session:
            session.execute(update(Section).where(Section.id == section.id).values(title=title))
            session.execute(update(Term).values(catalog_version=Term.catalog_version + 1))

    def add(self) -> None:
        self.sections.append(self._section(len(self.sections)))

    def hold(self) -> None:
        who = self._one()
        choice = NewHold(kind="Bursar", reason=f"bill {self.dice.random()}", office="the bursar")
        holds.place(who.id, choice, by=self.cast.max.id, why="Unpaid.")

    def claim(self) -> None:
        claim(self._one(), self.dice.choice(self.sections))

    def plan(self) -> None:
        who, section = self._one(), self.dice.choice(self.sections)
        choices = self.dice.choice(((_choice(section),), ()))
        change(self.term.id, who.id, None, lambda plan: replace(plan, choices=choices))

    def open(self) -> None:
        builders.an_open_window(self.term, 10 * DAYS)

    def resize(self) -> None:
        browser = self.dice.choice(list(self.students.values()))
        browser.set_cookie("rows", self.dice.choice(("compact", "comfortable")))

    def _one(self) -> Student:
        return self.dice.choice((self.cast.ada, self.cast.ben))

    def _section(self, number: int) -> Section:
        code = f"{self.dice.choice(('CSC', 'MAT'))}-{100 + number}"
        when = (Meets("MW"[number % 2], f"{8 + number % 8:02}:00", f"{8 + number % 8:02}:50"),)
        return builders.a_section(
            builders.a_course(code, public=number % 7 > 0), self.term, meetings=when
        )


@pytest.mark.parametrize("seed", range(3))
def test_page_is_the_same_as_without_caches(app: Flask, cast: Cast, seed: int) -> None:
    semester = Semester(app, cast, random.Random(seed))
    for _ in range(12):
        semester.go_on()
        query, language = semester.dice.choice(QUERIES), semester.dice.choice(LANGUAGES)
        pages = {
            name: [lasting(read(browser, semester.term, query, language)) for _ in range(2)]
            for name, browser in semester.students.items()
        }
        with without_caches():
            for name, browser in semester.students.items():
                new = lasting(read(browser, semester.term, query, language))
                assert [page.splitlines() for page in pages[name]] == [new.splitlines()] * 2


def test_page_needs_one_call_to_the_ledger_and_none_to_postgresql(
    ada: FlaskClient, term: Term, count_queries: list[str]
) -> None:
    builders.a_section(builders.a_course(), term)
    read(ada, term)
    count_queries.clear()
    assert len(ledger_commands(lambda: read(ada, term), term.id)) == 1
    assert count_queries == []


def test_page_has_the_name_and_the_form_token_of_its_reader(
    ada: FlaskClient, ben: FlaskClient, term: Term
) -> None:
    pages = [(read(ada, term), read(ben, term)) for _ in range(2)]
    tokens = [[set(TOKEN.findall(page)) for page in pair] for pair in pages]
    assert tokens[0] == tokens[1]
    [of_ada], [of_ben] = tokens[0]
    assert of_ada != of_ben
    for pair in pages:
        assert ["<bdi>Ada" in page for page in pair] == [True, False]
        assert ["<bdi>Ben" in page for page in pair] == [False, True]
        assert not any(shared_pages.SECRET in page for page in pair)


def test_page_has_the_time_of_its_own_request(ada: FlaskClient, term: Term) -> None:
    for _ in range(3):
        before = backend().ledger.now()
        [now] = re.findall(r'data-now="(\d+)"', read(ada, term))
        assert before <= int(now) <= backend().ledger.now()


def test_message_is_shown_once_to_its_reader(
    ada: FlaskClient, ben: FlaskClient, term: Term
) -> None:
    section = builders.a_section(builders.a_course(), term)
    for each in (ada, ben):
        read(each, term)
    assert ada.post(f"/terms/{term.id}/plan/toggle", data={"add": section.id}).status_code == 303
    assert ["to your plan" in words(read(each, term)) for each in (ben, ada, ada)] == [
        False,
        True,
        False,
    ]


def test_plan_changed_in_another_process_is_on_the_next_page(
    ada: FlaskClient, term: Term, cast: Cast
) -> None:
    first, second = (
        builders.a_section(builders.a_course(code), term) for code in ("CSC-1", "CSC-2")
    )
    change(term.id, cast.ada.id, 0, lambda _: Plan((_choice(first),)))
    assert "CSC 1" in words(panel(read(ada, term)))
    lines = pack(Plan((_choice(second),)))
    with transaction() as session:
        session.execute(update(PlanRow).values(lines=lines, version=PlanRow.version + 1))
    backend().ledger.count_plan_change(term.id, cast.ada.id)
    shown = words(panel(read(ada, term)))
    assert "CSC 2" in shown
    assert "CSC 1" not in shown


def _choice(section: Section) -> Choice:
    return Choice(((SectionRequest(section.id),),))
