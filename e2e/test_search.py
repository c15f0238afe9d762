"""Students find a section by what they remember of it, typing mistakes too."""

import pytest
from playwright.sync_api import expect

from e2e.person import Meet
from portal.catalog.models import Section, Subject, Term
from tests import cast as builders


@pytest.fixture
def wanted(term: Term) -> Section:
    """A section whose subject, title and instructor have names that no other has."""
    subject = builders.added(Subject(code=f"TID{term.id}", name="Oceanography"))
    course = builders.a_course(f"TID{term.id}-1", title="Waves", subject_id=subject.id)
    teacher = builders.added(builders.Instructor(name="Ida Quillfeather"))
    return builders.a_section(course, term, instructor=teacher)


def test_a_section_is_found_by_subject_title_and_instructor(
    meet: Meet, term: Term, section: Section, wanted: Section
) -> None:
    builders.an_open_window(term)
    page = (ada := meet("ada").enter(term)).page
    search = page.get_by_label("Search")
    # The hint names a section of this term.
    expect(search).to_have_attribute("placeholder", f"Search TID{term.id} 1, Waves, Quillfeather")
    corrected = page.get_by_text("Showing results for")
    for typed, as_meant in (
        ("oceanography", None),
        ("oceanograhpy", "oceanography"),
        ("waves", None),
        ("wavse", "waves"),
        ("QUILLFEATHER", None),
        ("ida quilfeather", "ida quillfeather"),
    ):
        search.fill("")
        expect(ada.row(section)).to_be_visible()
        search.fill(typed)
        expect(ada.row(section)).to_be_hidden()
        expect(ada.row(wanted)).to_be_visible()
        if as_meant:
            expect(corrected).to_have_text(
                f"Nothing matches “{typed}”. Showing results for “{as_meant}”."
            )
        else:
            expect(corrected).to_be_hidden()
    search.fill("nothing of the kind")
    expect(page.get_by_text("No section matches.")).to_be_visible()
