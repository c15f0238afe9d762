"""Students' pages about a section that was canceled and deleted."""

import re
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import func

from portal.catalog.term_catalog import forget
from portal.recorder.recorder import drain
from tests import cast as builders
from tests.notifications.stories import set_section
from tests.web.admin.sections.forms import do
from tests.web.pages import press, words
from tests.web.visitors import browser_of


def test_history_names_a_deleted_section(ada: FlaskClient, term: Any) -> None:
    section = builders.a_section(builders.a_course(), term)
    press(ada, section, "pick")
    set_section(section, status="CANCELED")
    drain(term.id)
    set_section(section, deleted_at=func.now())
    forget()
    text = words(ada.get(f"/terms/{term.id}/history").text)
    found = "CSC 1100-01 was canceled. You no longer have a seat in it."
    assert re.search(rf"Canceled .{{0,60}}{found}|{found}.{{0,60}}Canceled", text), text
    assert f"section {section.id}" not in text


@pytest.mark.parametrize(
    "actions", [("unpublish",), ("unpublish", "delete"), ("cancel", "reoffer")]
)
def test_history_names_a_section_that_became_a_draft_again(
    app: Flask, ada: FlaskClient, term: Any, actions: tuple[str, ...]
) -> None:
    section = builders.a_section(builders.a_course(), term)
    press(ada, section, "pick")
    press(ada, section, "drop")
    drain(term.id)
    for action in actions:
        assert do(browser_of(app, "max"), section, action, "Why not").status_code == 303
    forget()
    text = words(ada.get(f"/terms/{term.id}/history").text)
    assert "CSC 1100-01" in text
    assert f"section {section.id}" not in text


def test_deleted_draft_is_not_named(ada: FlaskClient, term: Any) -> None:
    section = builders.a_section(builders.a_course(), term, status="NEW", deleted_at=func.now())
    assert "CSC 1100" not in words(ada.get(f"/terms/{term.id}").text)
    page = ada.get(f"/terms/{term.id}/sections/{section.id}/pick")
    assert "CSC 1100" not in words(page.text)
