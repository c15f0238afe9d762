"""Allocation rounds on the registrar's pages: made, edited, announced, moved, canceled."""

import re
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from portal.backend import backend
from portal.catalog.models import Term
from portal.ledger.errors import WindowRefused
from portal.rounds import steps
from portal.windows import rounds, service
from portal.windows.models import Round
from portal.windows.rounds import RoundRefused
from portal.windows.service import Author, NewWindow
from tests.audit_trail import entries
from tests.cast import MINUTE, Cast, a_coming_window, a_student, an_account, an_open_window
from tests.rounds.builders import a_draft, a_round, again, ended
from tests.web.admin.windows.scheduling import from_now
from tests.web.visitors import browser_of


def a_form(**fields: Any) -> dict[str, Any]:
    form = {"name": "First round", "begins": from_now(20), "ends": from_now(21)}
    form |= {"whom": "everyone", "mechanism": "draft", "reserves": "given"}
    form |= {"first": "", "second": "", "third": "", "most_courses": "6", "most_credits": "21"}
    more = {"tickets": "1", "public_source": "Lottery 4711", "public_at": from_now(22)}
    return {**form, **more, "reason": "As decided", **fields}


def hidden(page: str) -> dict[str, str]:
    return dict(re.findall(r'<input type="hidden" name="(key|version)" value="([^"]*)"', page))


def send(admin: FlaskClient, address: str, **fields: Any) -> TestResponse:
    """Open a form and send it."""
    return admin.post(address, data={**hidden(admin.get(address).text), **fields})


def make(admin: FlaskClient, term: Term, **fields: Any) -> TestResponse:
    return send(admin, f"/admin/terms/{term.id}/rounds/new", **a_form(**fields))


def of(term: Term) -> list[Round]:
    return rounds.of_term(term.id)


def at(found: Round, page: str = "") -> str:
    return f"/admin/terms/{found.term_id}/rounds/{found.id}/{page}".rstrip("/")


def test_round_is_made_as_a_draft(admin: FlaskClient, term: Term, cast: Cast) -> None:
    answer = make(admin, term)
    (found,) = of(term)
    assert answer.location == at(found)
    assert (found.state, found.mechanism, found.most_credits) == ("draft", "draft", 2100)
    (entry,) = entries("round.create")
    assert (entry.account_id, entry.reason) == (cast.max.id, "As decided")
    assert entry.after
    assert found.secret not in str(entry.after)
    assert entry.after["commitment"] == rounds.commitment(found)


def test_form_sent_twice_makes_one_round(admin: FlaskClient, term: Term) -> None:
    address = f"/admin/terms/{term.id}/rounds/new"
    form = {**hidden(admin.get(address).text), **a_form()}
    assert {admin.post(address, data=form).status_code for _ in range(2)} == {303}
    assert len(of(term)) == 1


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"name": ""}, "Enter a name"),
        ({"ends": (20, "08:00")}, "The end must be after the start"),
        ({"ends": (-1, "09:00")}, "The end is in the past"),
        ({"mechanism": "auction"}, "Choose how seats are given"),
        ({"mechanism": "deferred"}, "Choose a first priority"),
        ({"first": "major"}, "Only deferred acceptance has priorities"),
        ({"public_at": (21, "09:00")}, "must be known after the end only"),
        ({"first": "major", "second": "major"}, "Choose each priority once"),
        ({"most_courses": "0"}, "whole number from 1 to 20"),
        ({"tickets": "11"}, "whole number from 1 to 10"),
        ({"public_source": " "}, "Name a value"),
        ({"whom": "some"}, "Choose at least one year"),
        ({"reason": ""}, "Enter a reason"),
    ],
)
def test_wrong_input_is_named(
    admin: FlaskClient, term: Term, fields: dict[str, Any], error: str
) -> None:
    fields |= {name: from_now(*at) for name, at in fields.items() if isinstance(at, tuple)}
    answer = make(admin, term, **fields)
    assert answer.status_code == 422
    assert error in answer.text
    assert of(term) == []


def test_name_is_used_once_in_a_term(admin: FlaskClient, term: Term) -> None:
    make(admin, term)
    answer = make(admin, term)
    assert answer.status_code == 422
    assert "Another round of this term has this name" in answer.text


def test_page_shows_the_priorities(admin: FlaskClient, term: Term) -> None:
    found = a_draft(term, mechanism="deferred", priorities=("major", "year Senior"))
    assert "majors of the section’s subject; Senior" in admin.get(at(found)).text


def test_draft_is_edited_with_its_values_in_the_form(admin: FlaskClient, term: Term) -> None:
    a_student("eli", year="Senior")
    found = a_draft(term, cohort={"years": ["Senior"]}, mechanism="deferred", priorities=("major",))
    page = admin.get(at(found, "edit")).text
    assert re.search(r'value="Senior" checked', page)
    assert re.search(r'<option selected value="major"', page)
    form = a_form(name="Another name", whom="some", years=["Senior"])
    assert send(admin, at(found, "edit"), **form).status_code == 303
    assert (again(found.id).name, again(found.id).cohort) == ("Another name", {"years": ["Senior"]})
    assert entries("round.edit")[0].before["name"] == "First round"  # type: ignore[index]


def test_edit_of_an_older_version_is_refused(admin: FlaskClient, term: Term) -> None:
    found = a_draft(term)
    seen = hidden(admin.get(at(found, "edit")).text)
    send(admin, at(found, "edit"), **a_form(name="By another"))
    answer = admin.post(at(found, "edit"), data={**seen, **a_form(name="Mine")})
    assert answer.status_code == 409
    assert "Someone else has changed this" in answer.text
    assert again(found.id).name == "By another"


def test_announced_round_is_fixed(admin: FlaskClient, term: Term) -> None:
    found = a_draft(term)
    assert "Announce the round" in admin.get(at(found)).text
    assert send(admin, at(found, "announce"), reason="Now").status_code == 303
    assert again(found.id).state == "open"
    assert entries("round.announce")
    assert rounds.commitment(found) in admin.get(at(found)).text
    assert found.secret not in admin.get(at(found)).text
    assert admin.get(at(found, "edit")).status_code == 409
    assert admin.get(at(found, "announce")).status_code == 409


def test_round_of_the_past_is_not_announced(admin: FlaskClient, term: Term) -> None:
    found = ended(a_draft(term))
    answer = send(admin, at(found, "announce"), reason="Now")
    assert answer.status_code == 409
    assert "The end is in the past" in answer.text


def test_end_moves_while_ballots_are_taken(admin: FlaskClient, term: Term) -> None:
    found = a_round(term)
    answer = send(admin, at(found, "end"), ends=from_now(9), reason="More time")
    assert answer.status_code == 303
    assert again(found.id).ends_at > found.ends_at
    assert entries("round.move")
    late = ended(found)
    answer = send(admin, at(late, "end"), ends=from_now(9), reason="Too late")
    assert answer.status_code == 409


def test_end_does_not_move_before_the_begin(admin: FlaskClient, term: Term, cast: Cast) -> None:
    now = backend().ledger.now()
    found = a_round(term, begins=now + 48 * 60 * MINUTE, ends=now + 72 * 60 * MINUTE)
    answer = send(admin, at(found, "end"), ends=from_now(1), reason="Shorter")
    assert answer.status_code == 422
    assert "The end must be after the start" in answer.text
    with pytest.raises(RoundRefused, match="order"):
        steps.move_end(found.id, found.version, now + MINUTE, cast.max.id, "tests")
    assert again(found.id).ends_at == found.ends_at


def test_canceled_round_stays_canceled(admin: FlaskClient, term: Term) -> None:
    found = a_round(term)
    assert send(admin, at(found, "cancel"), reason="Wrong").status_code == 303
    assert again(found.id).state == "canceled"
    assert entries("round.cancel")
    assert admin.get(at(found, "cancel")).status_code == 409
    assert "Canceled" in admin.get(f"/admin/terms/{term.id}/rounds").text


def test_round_is_not_announced_beside_a_window_of_the_same_students(
    admin: FlaskClient, term: Term
) -> None:
    a_student("eli", year="Senior")
    a_student("fay", year="Junior")
    an_open_window(term, cohort={"years": ["Senior"]})
    mine = a_draft(term, cohort={"years": ["Senior"]}, name="Seniors")
    answer = send(admin, at(mine, "announce"), reason="Now")
    assert answer.status_code == 409
    assert "A window is open for some of the same students" in answer.text
    other = a_draft(term, cohort={"years": ["Junior"]}, name="Juniors")
    assert send(admin, at(other, "announce"), reason="Now").status_code == 303


def test_two_rounds_do_not_take_ballots_of_the_same_students(
    admin: FlaskClient, term: Term
) -> None:
    a_round(term)
    other = a_draft(term, name="Second")
    answer = send(admin, at(other, "announce"), reason="Now")
    assert answer.status_code == 409
    assert "Another round takes ballots of some of the same students" in answer.text


def test_window_is_not_scheduled_beside_a_round_of_the_same_students(
    cast: Cast, term: Term
) -> None:
    found = a_round(term)
    now = backend().ledger.now()
    beside = NewWindow("Beside", now + MINUTE, now + 2 * MINUTE, {})
    with pytest.raises(WindowRefused, match="round"):
        service.schedule(term.id, service.new_id(), beside, cast.max.id)
    window = a_coming_window(term, minutes=120)
    author = Author(cast.max.id, "tests")
    with pytest.raises(WindowRefused, match="round"):
        service.move(term.id, window.id, now + MINUTE, now + 2 * MINUTE, author)
    ended(found)
    service.schedule(term.id, service.new_id(), beside, cast.max.id)


def test_page_refuses_such_a_window_with_a_sentence(admin: FlaskClient, term: Term) -> None:
    found = a_round(term)
    send(admin, at(found, "end"), ends=from_now(40), reason="Longer")
    data = {"name": "W", "opens": from_now(30), "closes": from_now(31), "whom": "everyone"}
    looked = admin.post(f"/admin/terms/{term.id}/windows", data=data, follow_redirects=True)
    answer = admin.post(looked.request.path)
    assert answer.status_code == 422
    assert "An allocation round takes ballots" in answer.text


def test_auditors_read_and_do_not_change(app: Flask, cast: Cast, term: Term) -> None:
    an_account("audrey", staff_roles=["auditor"])
    audrey, found = browser_of(app, "audrey"), a_draft(term)
    assert audrey.get(at(found)).status_code == 200
    assert "Announce the round" not in audrey.get(at(found)).text
    assert audrey.get(at(found, "announce")).status_code == 403
    assert browser_of(app, "ada").get(at(found)).status_code == 403
    assert cast.ada
