"""The forms and the list of a whole real semester, if the shared data is available."""

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
from tests.exchange.campus import imported
from tests.exchange.test_semester_real_semester import FOLDER
from tests.web.admin.sections.forms import address, inputs, stored
from tests.web.visitors import browser_of

pytestmark = pytest.mark.skipif(
    not FOLDER.is_dir(), reason=f"the data of the real semester is not at {FOLDER}"
)
EVERY = 29  # sections; each is asked for by queries of its own


def test_every_form_round_trips_and_the_list_is_paged(app: Flask, backend: Backend) -> None:
    term = imported(FOLDER, "Fall 2020").term
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
    page = admin.get(f"/admin/terms/{term}/sections?page=23").text
    assert "2,250 in Fall 2020" in page
    assert "Page 23 of 23" in page
    assert page.count('<th scope="row">') == 50
    assert backend
