"""A web process that hears of a changed section shows it on the next page at once."""

from itertools import count

import pytest
from sqlalchemy import update

from portal.backend import Backend
from portal.catalog import term_catalog
from portal.catalog.models import Section, Term
from portal.catalog.term_catalog import catalog_of
from portal.core.db import transaction
from tests.live.test_slow_pages import put, until


@pytest.mark.usefixtures("hub")
def test_page_loaded_after_a_change_shows_it(
    backend: Backend, section: Section, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(term_catalog._catalogs, "seconds", 3600)  # noqa: SLF001  so that it does not look
    assert catalog_of(section.term_id).sections[0].title != "Another title"
    with transaction() as session:
        session.execute(update(Section).values(title="Another title"))
        session.execute(update(Term).values(catalog_version=Term.catalog_version + 1))
    versions = count(3)

    def shown() -> bool:
        # The hub may still be on its way to the ledger.
        put(backend.ledger, section, next(versions))
        return catalog_of(section.term_id).sections[0].title == "Another title"

    until(shown)
