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
from portal.people.roles import Right
from portal.registration.next_steps import section_name
from portal.web.http.access import visitor


@dataclass(frozen=True)
class InstructorSection:
    term: TermView
    section: SectionView

    @property
    def name(self) -> str:
        """Return the section's name, such as CSC 1100-01."""
        return section_name(self.section)


def taught_section(section_id: int) -> InstructorSection:
    """Return a section that the visitor teaches; otherwise 404 or 403."""
    found = own_section(section_id)
    if visitor().instructor_ids.isdisjoint(found.section.instructor_ids):
        abort(403)
    return found


def own_section(section_id: int) -> InstructorSection:
    """Return a section that the visitor teaches or has the right to see; otherwise 404 or 403."""
    who, published = visitor(), {term.id for term in published_terms()}
    offers = (catalog_of(term.id) for term in live_terms())
    found = ((each.term, section) for each in offers if (section := each.section(section_id)))
    term, section = next(found, None) or abort(404)
    if not who.may_in(Right.SEE_ROSTERS, section.department_id):
        if term.id not in published:
            abort(404)
        if who.instructor_ids.isdisjoint(section.instructor_ids):
            abort(403)
    return InstructorSection(term, section)
