"""From the end of a round to its published result, on the pages of the registrar and students."""

import json
import re
import subprocess
import sys
import zlib
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import update

from portal.catalog.models import Term
from portal.core.db import transaction
from portal.operations import figures
from portal.rounds import ballots, steps
from portal.windows.models import Round
from tests.audit_trail import entries
from tests.cast import Cast, a_course, a_section
from tests.rounds.builders import (
    a_round,
    again,
    an_admin,
    applied,
    computed,
    frozen,
    known,
    ranks,
)
from tests.web.admin.rounds.test_rounds import at, send
from tests.web.visitors import browser_of


@pytest.fixture
def popular(term: Term, cast: Cast) -> Round:
    """A round in which two students rank one seat first, and another section after it."""
    one, two = (a_section(a_course(code), term, capacity=1) for code in ("CSC-1", "MTH-1"))
    found = a_round(term)
    for student in (cast.ada, cast.ben):
        ranks(found, student, one, two)
    return found


def test_registrar_sees_turnout_and_tries_the_mechanisms(
    admin: FlaskClient, popular: Round, cast: Cast
) -> None:
    assert "of 4 students" in admin.get(at(popular)).text
    assert "No comparison yet" in admin.get(at(popular, "compare")).text
    admin.post(at(popular, "trial"))
    steps.work(popular.term_id)
    page = admin.get(at(popular, "compare")).text
    assert "2 ballots" in page
    assert "50.0 %" in page
    assert "With a draw for this trial alone" in page
    assert "who would gain from a different ballot" in page
    steps.cancel(popular.id, again(popular.id).version, cast.max.id, "tests")
    page = admin.get(at(popular, "compare")).text
    assert "With a draw for this trial alone." in page
    assert "not known yet" not in page
    assert entries("round.trial")


def test_value_is_entered_and_the_result_published(
    admin: FlaskClient, popular: Round, cast: Cast
) -> None:
    after = frozen(popular)
    assert str(after.root) in admin.get(at(after)).text
    assert "can’t be known yet" in admin.get(at(after, "value")).text
    known(after)
    form = {"value": " 0BADC0DE ", "reason": "Lottery 4711"}
    asked = send(admin, at(after, "value"), **form)
    assert again(after.id).public_value is None
    assert '<dd class="ops-text">0badc0de</dd>' in asked.text
    other = send(admin, at(after, "value"), **form, sure="0badc0df")
    assert 'name="sure" value="0badc0de"' in other.text
    answer = send(admin, at(after, "value"), **form, sure="0badc0de")
    assert answer.status_code == 303
    assert again(after.id).public_value == "0badc0de"
    shown = admin.get(at(after)).text
    assert after.public_source in shown
    assert "0badc0de" in shown
    (entry,) = entries("round.value")
    assert (entry.account_id, entry.reason) == (cast.max.id, "Lottery 4711")
    assert admin.get(at(after, "value")).status_code == 409
    steps.work(after.term_id)
    assert "With the real draw" in admin.get(at(after, "compare")).text
    assert send(admin, at(after, "publish"), reason="Checked").status_code == 303
    assert again(after.id).state == "published"
    assert entries("round.publish")


def test_page_says_what_to_do_when_it_is_too_late_to_fix_the_ballots(
    admin: FlaskClient, popular: Round
) -> None:
    after = known(frozen(known(popular)))
    assert after.root is None
    page = admin.get(at(after)).text
    assert "Cancel the round, and make a new one" in page
    assert "holds back the seats" in page
    assert "were not fixed in time." in alarms(admin)
    steps.cancel(after.id, after.version, an_admin(), "tests")
    assert "were not fixed in time." not in alarms(admin)


def test_page_and_alarm_say_that_stored_ballots_differ_from_those_under_the_root(
    admin: FlaskClient, popular: Round
) -> None:
    after = known(frozen(popular))
    with transaction() as session:
        session.execute(update(Round).where(Round.id == after.id).values(root="0" * 64))
    steps.enter_value(after.id, after.version, "4711", an_admin(), "tests")
    with pytest.raises(RuntimeError):
        steps.work(after.term_id)
    page = admin.get(at(after)).text
    assert "have changed since the end" in page
    assert f"/rounds/{after.id}/cancel" in page
    assert "are not those that were fixed at its end." in alarms(admin)


def alarms(admin: FlaskClient) -> str:
    """Return the page with the alarms, with new figures."""
    figures.forget()
    return " ".join(admin.get("/admin/operations").text.split())


def test_comparison_of_a_round_canceled_after_computing_had_the_real_draw(
    admin: FlaskClient, popular: Round, cast: Cast
) -> None:
    after = computed(popular)
    steps.cancel(after.id, after.version, cast.max.id, "tests")
    assert "With the real draw" in admin.get(at(after, "compare")).text


def test_value_before_the_end_is_refused(admin: FlaskClient, popular: Round) -> None:
    assert admin.get(at(popular, "value")).status_code == 409
    form: dict[str, Any] = {"version": popular.version, "value": "1", "sure": "1", "reason": "No"}
    assert admin.post(at(popular, "value"), data=form).status_code == 409
    assert again(popular.id).public_value is None


def test_student_reads_the_result_and_checks_it_with_the_script(
    app: Flask, popular: Round, cast: Cast, tmp_path: Path
) -> None:
    ada, address = browser_of(app, "ada"), f"/terms/{popular.term_id}/rounds/{popular.id}"
    computed(popular)
    for name in ("published.json", "verify.py"):
        assert ada.get(f"{address}/{name}").status_code == 404
    assert "Your result" not in ada.get(address).text
    steps.publish(popular.id, again(popular.id).version, cast.max.id, "tests")
    ballots.forget()
    assert "Your result" not in ada.get(address).text
    steps.work(popular.term_id)
    ballots.forget()
    page = ada.get(address).text
    assert page.count('data-outcome="enrolled"') == 1
    assert "It was full when your turn 1 came." in page or "You got it in turn 1." in page
    for name in ("published.json", "verify.py"):
        answer = ada.get(f"{address}/{name}")
        assert "attachment" in answer.headers["Content-Disposition"]
        (tmp_path / name).write_bytes(answer.data)
    (code,) = re.findall(r"verify.py round-\d+.json ([\w-]+) \[root you noted\]", page)
    assert "In place of [root you noted], write the root from your email" in page
    root = str(again(popular.id).root)
    command = [sys.executable, "verify.py", "published.json", code, root]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout
    assert "yes Your ballot is in the file." in ran.stdout


def test_published_file_names_no_student(app: Flask, popular: Round, cast: Cast) -> None:
    applied(popular)
    file = browser_of(app, "ben").get(
        f"/terms/{popular.term_id}/rounds/{popular.id}/published.json"
    )
    ballot = ballots.ballot_of(popular.id, cast.ada.id)
    assert ballot
    assert ballot.pseudonym in file.text
    assert ballot.code not in file.text
    assert cast.ada.number not in file.text
    assert len(json.loads(file.text)["ballots"]) == 2


def test_published_file_is_sent_as_it_is_stored_and_not_twice(app: Flask, popular: Round) -> None:
    applied(popular)
    ada, address = browser_of(app, "ada"), f"/terms/{popular.term_id}/rounds/{popular.id}"
    plain = ada.get(f"{address}/published.json")
    packed = ada.get(f"{address}/published.json", headers={"Accept-Encoding": "gzip, deflate, br"})
    assert packed.headers["Content-Encoding"] == "deflate"
    assert zlib.decompress(packed.data) == plain.data
    assert "Accept-Encoding" in packed.vary
    headers = {"Accept-Encoding": "deflate", "If-None-Match": packed.headers["ETag"]}
    assert ada.get(f"{address}/published.json", headers=headers).status_code == 304


def test_proof_of_inclusion_is_for_the_own_ballot(app: Flask, popular: Round, cast: Cast) -> None:
    after = frozen(popular)
    ballots.forget()
    address = f"/terms/{after.term_id}/rounds/{after.id}/proof.json"
    proof = json.loads(browser_of(app, "ada").get(address).text)
    ballot = ballots.ballot_of(after.id, cast.ada.id)
    assert ballot
    assert proof["root"] == after.root
    assert proof["ballot"]["pseudonym"] == ballot.pseudonym
    assert browser_of(app, "cleo").get(address).status_code == 404
