"""Documents of an application: hostile ones are refused, and lost connections do no harm."""

import re
from os import urandom
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Route, expect

from e2e.applying import add_document, begin_late_add, choose, end_the_window, send
from e2e.contrast import NARROW
from e2e.person import Meet, Person
from e2e.sizes import too_wide
from portal.catalog.models import Section, Term
from tests import cast as builders
from tests.applications import files
from tests.soak import in_soak

# By name: the file, and the refusal on the page. A worker finds those of the second table.
REFUSED_AT_ONCE = {
    "nothing.pdf": (b"", "The file is empty."),
    "letter.exe.pdf": (files.a_pdf(), "does not match its content"),
    "letter.pdf.exe": (files.a_pdf(), "does not match its content"),
    "archive.pdf": (files.a_zip(), "is not a PDF, JPEG or PNG"),
}
REFUSED_BY_THE_CHECK = {
    "polyglot.pdf": (files.a_polyglot, "contains more than a PDF"),
    "bomb.pdf": (files.a_pdf_bomb, "is too complex to read"),
    "huge.png": (files.fifty_megapixels, "more than 40 megapixels"),
    "eicar.pdf": (lambda: files.a_pdf(text=files.EICAR), "The virus scanner rejected the file."),
}
LOST = re.compile(r"ERR_")


@pytest.fixture(params=["scripts", *in_soak("no scripts")])
def applicant(request: pytest.FixtureRequest, meet: Meet, term: Term, section: Section) -> Person:
    """A student on a phone, in an application whose documents come next."""
    end_the_window(term)
    builders.a_student(f"sends{term.id}")
    person = meet(
        f"sends{term.id}", viewport=NARROW, java_script_enabled=request.param == "scripts"
    )
    begin_late_add(person, term, section)
    return person


def row(person: Person, name: str) -> Locator:
    """The document of that name on the page."""
    return person.page.locator("#documents li").filter(has_text=name)


def test_hostile_files_are_refused_with_the_reason(applicant: Person, tmp_path: Path) -> None:
    page = applicant.page
    for name, (content, reason) in REFUSED_AT_ONCE.items():
        (tmp_path / name).write_bytes(content)
        choose(applicant, tmp_path / name)
        expect(page.locator(".field-error:visible")).to_have_text(re.compile(reason))
        expect(row(applicant, name)).to_have_count(0)
    for name, (make, _) in REFUSED_BY_THE_CHECK.items():
        (tmp_path / name).write_bytes(make())
        choose(applicant, tmp_path / name)
        expect(row(applicant, name)).to_be_visible()
    for name, (_, reason) in REFUSED_BY_THE_CHECK.items():
        applicant.asks_until(row(applicant, name).filter(has_text=reason))
        row(applicant, name).get_by_role("button", name="Remove").click()
        expect(row(applicant, name)).to_have_count(0)
    (tmp_path / "letter.pdf").write_bytes(files.a_pdf())
    add_document(applicant, tmp_path / "letter.pdf")
    send(applicant)


def test_an_upload_goes_on_after_a_lost_connection(
    meet: Meet, term: Term, section: Section, tmp_path: Path
) -> None:
    end_the_window(term)
    builders.a_student(f"sends{term.id}")
    person = meet(f"sends{term.id}", viewport=NARROW)
    page, sent = person.page, list[str]()
    person.expected = LOST
    begin_late_add(person, term, section)
    scan = tmp_path / "scan.pdf"
    scan.write_bytes(files.a_pdf(text=urandom(3_500_000)))

    def lose(route: Route) -> None:
        sent.append(route.request.url.rpartition("=")[2])
        if len(sent) == 3:
            page.context.set_offline(True)
        route.continue_()

    page.route("**/uploads/*", lose)
    choose(person, scan)
    expect(page.get_by_text("Connection lost. The upload continues automatically.")).to_be_visible()
    assert 50 < page.get_by_role("progressbar").evaluate("it => it.value") < 60  # 2 of 3.5 MB
    assert not too_wide(page)
    page.context.set_offline(False)
    expect(row(person, "scan.pdf")).to_be_visible()
    person.asks_until(row(person, "scan.pdf").get_by_text("Checked", exact=True))
    pieces = [str(each * 2**20) for each in range(4)]
    assert sorted(set(sent)) == sorted(pieces)
    assert sent[:2] == pieces[:2]
    assert sent.count("0") == 1  # nothing that had arrived was sent again
