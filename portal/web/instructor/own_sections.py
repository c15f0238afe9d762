"""The sections that an instructor may open."""

from dataclasses import dataclass

from flask import abort

from portal.catalog.term_catalog import (
    SectionView,
    TermView,
    catalog_of,
    live_terms,
    published_terms,
)
from portal.registration.next_steps import section_name
from portal.web.http.access import visitor


@dataclass(frozen=True)
class InstructorSection:
    """A section and its term."""

    term: TermView
    section: SectionView

    @property
    def name(self) -> str:
        """Return the section's name, such as CSC 1100-01."""
        return section_name(self.section)


def own_section(section_id: int) -> InstructorSection:
    """Return a section that the visitor teaches, or any for an admin; otherwise 404 or 403."""
    terms = live_terms() if "admin" in visitor().roles else published_terms()
    offers = (catalog_of(term.id) for term in terms)
    found = ((each.term, section) for each in offers if (section := each.section(section_id)))
    term, section = next(found, None) or abort(404)
    if "admin" not in visitor().roles and visitor().instructor_ids.isdisjoint(
        section.instructor_ids
    ):
        abort(403)
    return InstructorSection(term, section)
