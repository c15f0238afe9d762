"""Two admins edit one section: neither overwrites the other."""

import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import update

from portal.catalog import sections
from portal.catalog.models import Section
from portal.catalog.sections import Stale
from portal.core.db import transaction
from tests.audit_trail import entries
from tests.cast import Cast, an_account
from tests.web import pages
from tests.web.admin.sections.forms import (
    address,
    change,
    details,
    do,
    filled,
    stored,
    text_of,
    typed,
)
from tests.web.visitors import browser_of


@pytest.fixture
def other(app: Flask, cast: Cast) -> FlaskClient:  # noqa: ARG001
    """Return the browser of Mona, another admin."""
    an_account("mona", is_admin=True)
    return browser_of(app, "mona")


def test_second_admin_sees_both_versions_and_keeps_the_input(
    admin: FlaskClient, other: FlaskClient, section: Section
) -> None:
    mine = filled(admin, section, capacity=9, title="Mine")
    change(other, section, capacity=5, note="Theirs.")
    answer = pages.send(admin, address(section, "/edit"), mine)
    assert answer.status_code == 409
    result = text_of(answer)
    assert "Someone else has changed this section" in result
    assert "Section edited by Mona" in result
    assert "Seats 5 9" in result
    assert "Title Course CSC-1100 Mine" in result
    assert "Note Theirs. None" in result
    assert typed(answer.text, "capacity") == "9"
    assert 'value="Mine"' in answer.text
    assert (details(section).capacity, details(section).title) == (5, "Course CSC-1100")


def test_input_is_stored_after_the_second_admin_saw_both(
    admin: FlaskClient, other: FlaskClient, section: Section
) -> None:
    mine = filled(admin, section, capacity=9)
    change(other, section, note="Theirs.")
    refused = pages.send(admin, address(section, "/edit"), mine)
    version = re.search(r'name="version" value="(\d+)"', refused.text)
    assert version
    form = mine.copy()
    for name, value in {"version": version[1], "note": "Theirs.", "confirmed": "yes"}.items():
        form[name] = value
    assert pages.send(admin, address(section, "/edit"), form).status_code == 303
    assert (details(section).capacity, details(section).note) == (9, "Theirs.")


def test_confirmed_change_of_an_old_version_changes_nothing(
    admin: FlaskClient, other: FlaskClient, section: Section
) -> None:
    mine = filled(admin, section, capacity=9, confirmed="yes")
    change(other, section, capacity=5)
    assert pages.send(admin, address(section, "/edit"), mine).status_code == 409
    assert details(section).capacity == 5
    assert len(entries()) == 1


def test_all_differences_of_a_simultaneous_import_are_shown(
    admin: FlaskClient, section: Section
) -> None:
    mine = filled(admin, section, capacity=9)
    with transaction() as session:
        imported = {"note": "Imported.", "version": 2}
        session.execute(update(Section).where(Section.id == section.id).values(imported))
    answer = pages.send(admin, address(section, "/edit"), mine)
    assert answer.status_code == 409
    assert "Note Imported. None" in text_of(answer)
    assert 'value="9"' in answer.text
    assert details(section).note == "Imported."


def test_identical_simultaneous_change_is_reported(
    admin: FlaskClient, other: FlaskClient, section: Section
) -> None:
    mine = filled(admin, section, capacity=9)
    change(other, section, capacity=9)
    answer = pages.send(admin, address(section, "/edit"), mine)
    assert "Someone else has already made this change" in text_of(answer)


def test_section_canceled_meanwhile_is_not_edited(
    admin: FlaskClient, other: FlaskClient, section: Section
) -> None:
    mine = filled(admin, section, capacity=9, confirmed="yes")
    do(other, section, "cancel")
    answer = pages.send(admin, address(section, "/edit"), mine)
    assert answer.status_code == 422
    assert "is canceled" in text_of(answer)
    assert 'value="9"' in answer.text
    assert details(section).capacity == 2


def test_one_of_many_simultaneous_changes_is_stored(section: Section, cast: Cast) -> None:
    now = stored(section)
    seen = sections.SeenSection(now.term_id, now.id, now.version)

    def raised(capacity: int) -> bool:
        wanted = replace(now.details, capacity=capacity)
        try:
            sections.edit_sections([(seen, wanted)], cast.max.id, f"To {capacity}.")
        except Stale:
            return False
        return True

    tried = range(10, 26)
    with ThreadPoolExecutor(8) as pool:
        done = [n for n, did in zip(tried, pool.map(raised, tried), strict=True) if did]
    assert done == [details(section).capacity]
    assert [each.reason for each in entries()] == [f"To {done[0]}."]
    assert stored(section).version == now.version + 1
