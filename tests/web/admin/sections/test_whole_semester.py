"""The forms and the list of a whole semester."""

from pathlib import Path

import pytest
from flask import Flask
from sqlalchemy import select

from portal.backend import Backend
from portal.catalog.models import Section
from portal.catalog.term_catalog import catalog_of
from portal.core.db import transaction
from portal.web.admin.section_forms import SectionForm
from portal.windows.warmup import warm_up
from tests.cast import an_account
from tests.exchange import whole_semesters
from tests.exchange.campus import imported
from tests.web.admin.sections.forms import address, inputs, stored
from tests.web.visitors import browser_of

ROWS = 100  # on a page of the list
EVERY = 29  # sections; each is asked for by queries of its own


@pytest.mark.parametrize("name", whole_semesters.EACH)
def test_every_form_round_trips_and_the_list_is_paged(
    app: Flask, backend: Backend, tmp_path: Path, name: str
) -> None:
    term = imported(whole_semesters.folder_of(name, tmp_path), whole_semesters.term_of(name)).term
    warm_up(term)
    view = catalog_of(term).term
    an_account("max", is_admin=True)
    admin = browser_of(app, "max")
    with transaction() as session:
        sections = list(session.scalars(select(Section).where(Section.term_id == term)))
    for section in sorted(sections, key=lambda each: each.id)[::EVERY]:
        sent = inputs(admin.get(address(section, "/edit")).text)
        with transaction() as session, app.test_request_context():
            now = stored(section)
            form = SectionForm(sent, session, view, now.course_code)
            assert form.validate(), (now.crn, form.errors)
            assert form.details == now.details
    last = (len(sections) - 1) // ROWS + 1
    page = admin.get(f"/admin/terms/{term}/sections?page={last - 1}").text
    assert f"{len(sections):,} in {whole_semesters.term_of(name)}" in page
    assert f"Page {last - 1} of {last}" in page
    assert page.count('<th scope="row">') == ROWS
    assert backend
