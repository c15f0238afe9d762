"""GET and POST /admin/terms/<t>/sections/<s>/share."""

from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select
from werkzeug.test import TestResponse

from portal.catalog.models import Pool, Section, Term
from portal.catalog.seat_pools import SeatPool
from portal.core.db import transaction
from portal.recorder.consistency.audit import audit_term
from portal.recorder.recorder import drain
from tests import cast as builders
from tests.audit_trail import entries
from tests.web.admin.sections.forms import (
    address,
    do,
    errors,
    filled,
    seats,
    stored,
    text_of,
    typed,
)
from tests.web.pages import press
from tests.web.pages import send as sent
from tests.web.visitors import browser_of

BOTH = ["CSC 1100-01", "MAT 1000-02"]


@pytest.fixture
def other(term: Term, section: Section) -> Any:  # noqa: ARG001
    """Return MAT-1000-02, with two seats of its own."""
    return builders.a_section(builders.a_course("MAT-1000"), term)


@pytest.fixture
def pooled(admin: FlaskClient, section: Section, other: Section) -> Section:
    """Let both sections share three seats."""
    assert other
    assert change(admin, section).status_code == 303
    return section


def send(admin: FlaskClient, section: Section, members: Any = BOTH, **fields: Any) -> TestResponse:
    """Send the form and return the preview."""
    now = shared(section)
    version = now.mark if now else "0-0"
    form = {"name": "Numbers", "capacity": 3, "section": members, "version": version, **fields}
    return sent(admin, address(section, "/share"), form)


def change(admin: FlaskClient, section: Section, **fields: Any) -> TestResponse:
    """Change the pool without looking at the preview."""
    return send(admin, section, **{"confirmed": "yes", "reason": "One class.", **fields})


def shared(section: Section) -> SeatPool | None:
    return stored(section).pool


def counts(section: Section) -> tuple[int | None, int]:
    found = seats(section)
    return found.pool_capacity, found.open


def test_form_starts_with_the_section(admin: FlaskClient, section: Section) -> None:
    page = admin.get(address(section, "/share")).text
    assert typed(page, "capacity") == "2"
    assert 'name="section" value="CSC 1100-01"' in page


def test_preview_explains_the_effects_and_changes_nothing(
    admin: FlaskClient, section: Section, other: Section
) -> None:
    assert other
    answer = text_of(send(admin, section))
    assert "Shared seats None 3" in answer
    assert "0 seats are taken in these sections in total." in answer
    assert "CSC 1100-01 has 2 seats, so it can use at most that many" in answer
    assert shared(section) is None


def test_sections_of_a_pool_give_shared_seats(
    admin: FlaskClient, app: Flask, pooled: Section, other: Section
) -> None:
    assert counts(pooled) == counts(other) == (3, 2)
    for name in ("ada", "ben"):
        press(browser_of(app, name), pooled, "pick")
    assert (seats(pooled).open, seats(other).open) == (0, 1)
    page = text_of(admin.get(address(pooled)))
    assert "Numbers: 2 of 3 taken in all its sections." in page
    assert "MAT 1000-02 0 of 2 enrolled 1 open" in page
    drain(pooled.term_id, seconds=0)
    assert audit_term(pooled.term_id)["clean"]


def test_section_can_be_named_by_crn(admin: FlaskClient, section: Section, other: Section) -> None:
    assert change(admin, section, members=[section.crn, other.crn]).status_code == 303
    found = shared(section)
    assert found
    assert [each.name for each in found.members] == BOTH


def test_fewer_shared_seats_than_taken_are_allowed_with_a_note(
    admin: FlaskClient, app: Flask, pooled: Section
) -> None:
    for name in ("ada", "ben"):
        press(browser_of(app, name), pooled, "pick")
    assert "1 seat will be over capacity." in text_of(send(admin, pooled, capacity=1))
    assert "Enter a reason" in errors(change(admin, pooled, capacity=1, reason=""))
    assert change(admin, pooled, capacity=1).status_code == 303
    assert (seats(pooled).taken, counts(pooled)) == (2, (1, 0))


def test_more_shared_seats_need_no_reason(
    admin: FlaskClient, pooled: Section, other: Section
) -> None:
    assert change(admin, pooled, capacity=4, reason="").status_code == 303
    assert counts(other) == (4, 2)


def test_section_that_leaves_a_pool_keeps_its_own_seats(
    admin: FlaskClient, term: Term, pooled: Section, other: Section
) -> None:
    third = builders.a_section(builders.a_course("ART-1000"), term)
    assert change(admin, pooled, members=[*BOTH, "ART 1000-03"]).status_code == 303
    answer = text_of(send(admin, pooled, members=[BOTH[1], "ART 1000-03"]))
    assert "No longer sharing seats: CSC 1100-01." in answer
    assert change(admin, pooled, members=[BOTH[1], "ART 1000-03"]).status_code == 303
    assert shared(pooled) is None
    assert (counts(pooled), counts(other), counts(third)) == ((None, 2), (3, 2), (3, 2))


def test_pool_with_one_section_ends(admin: FlaskClient, pooled: Section, other: Section) -> None:
    assert change(admin, pooled, members=[BOTH[0]]).status_code == 303
    assert counts(pooled) == counts(other) == (None, 2)
    with transaction() as session:
        assert session.scalar(select(Pool.id)) is None


def test_all_errors_are_shown_at_once(
    admin: FlaskClient, section: Section, other: Section, term: Term
) -> None:
    elsewhere = builders.a_section(builders.a_course("BIO-1000"), builders.a_term("Spring 2031"))
    gone = builders.a_section(builders.a_course("ART-1000"), term, status="CANCELED")
    assert elsewhere.number == "01"
    names = [*BOTH, "BIO 1000-01", f"ART 1000-{gone.number}", "what"]
    wrong = errors(send(admin, section, name=" ", capacity="lots", members=names))
    for each in (
        "Name: enter at most 80 characters.",
        "Shared seats: enter a whole number from 0 to 100,000.",
        "“BIO 1000-01” is a section of Spring 2031. Only sections of the same term can share",
        f"ART 1000-{gone.number} has been canceled.",
        "This term has no section “what”.",
    ):
        assert each in wrong
    assert "Enter at least two sections" in errors(send(admin, section, members=BOTH[:1]))
    assert shared(other) is None


def test_section_in_another_pool_must_leave_it_first(
    admin: FlaskClient, term: Term, pooled: Section
) -> None:
    assert pooled
    third = builders.a_section(builders.a_course("ART-1000"), term)
    answer = change(admin, third, name="More", members=["ART 1000-03", BOTH[0]])
    assert "CSC 1100-01 already shares seats with other sections." in errors(answer)


def test_pool_name_is_unique_in_a_term(admin: FlaskClient, term: Term, pooled: Section) -> None:
    assert pooled
    pair = [builders.a_section(builders.a_course(code), term) for code in ("ART-1", "BIO-1")]
    answer = change(admin, pair[0], members=[each.crn for each in pair])
    assert "This term already has shared seats with this name." in errors(answer)
    assert shared(pair[0]) is None


def test_draft_may_be_in_a_pool_with_a_note(
    admin: FlaskClient, term: Term, section: Section
) -> None:
    draft = builders.a_section(builders.a_course("MAT-1000"), term, status="NEW")
    assert "MAT 1000-02 is a draft" in text_of(send(admin, section))
    assert change(admin, section).status_code == 303
    assert do(admin, draft, "publish").status_code == 303
    assert counts(draft) == (3, 2)


def test_canceled_section_cannot_share_seats(admin: FlaskClient, section: Section) -> None:
    do(admin, section, "cancel")
    assert admin.get(address(section, "/share")).status_code == 422


def test_second_admin_sees_the_stored_pool_and_keeps_the_input(
    admin: FlaskClient, pooled: Section
) -> None:
    seen = shared(pooled)
    assert seen
    change(admin, pooled, capacity=9)
    answer = change(admin, pooled, capacity=5, version=seen.mark)
    assert answer.status_code == 409
    result = text_of(answer)
    assert "Someone else has changed these shared seats" in result
    assert "Shared seats 9 5" in result
    assert 'value="5"' in answer.text
    assert counts(pooled)[0] == 9
    assert change(admin, pooled, capacity=5).status_code == 303
    assert counts(pooled)[0] == 5


def test_simultaneous_edit_of_the_section_overwrites_nothing(
    admin: FlaskClient, section: Section, other: Section
) -> None:
    assert other
    mine = filled(admin, section, note="Mine.", confirmed="yes")
    change(admin, section)
    answer = sent(admin, address(section, "/edit"), mine)
    assert answer.status_code == 409
    assert "Shared seats of a section changed by Max" in text_of(answer)
    assert "Note None Mine." in text_of(answer)


def test_audit_trail_of_each_section_has_the_pool(
    admin: FlaskClient, pooled: Section, other: Section
) -> None:
    change(admin, pooled, capacity=5)
    found = [each for each in entries() if each.action == "section.share"]
    assert {each.subject for each in found} == {stored(pooled).subject, stored(other).subject}
    last = found[-1]
    assert last.before
    assert last.after
    assert last.before["shares"] == ["Numbers: 3 seats shared by", *BOTH]
    assert last.after["shares"] == ["Numbers: 5 seats shared by", *BOTH]
    assert last.reason == "One class."
