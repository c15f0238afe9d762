"""The class that a page is about: one's own, or anyone's for an admin."""

from dataclasses import dataclass

from flask import abort

from portal.catalog.term_catalog import SectionView, TermView, catalog_of, live_terms
from portal.registration.next_steps import section_name
from portal.web.http.access import visitor


@dataclass(frozen=True)
class Class:
    """A section and the term that it is of."""

    term: TermView
    card: SectionView

    @property
    def name(self) -> str:
        """As people say it, such as CSC 1100-01."""
        return section_name(self.card)


def own(section_id: int) -> Class:
    """The section, if the visitor teaches it or is an admin; 404 where there is none, else 403."""
    offers = [catalog_of(term.id) for term in live_terms()]
    found = [Class(each.term, card) for each in offers if (card := each.section(section_id))]
    if not found:
        abort(404)
    teaches = not visitor().teacher_ids.isdisjoint(found[0].card.teacher_ids)
    if not (teaches or "admin" in visitor().roles):
        abort(403)
    return found[0]
