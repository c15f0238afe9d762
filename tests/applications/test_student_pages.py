"""The pages of a student who applies, without JavaScript."""

from html import unescape
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import func, select

from portal.applications import service
from portal.applications.kinds import KINDS
from portal.applications.models import Application
from portal.applications.service import ApplicationRefused
from portal.catalog.models import Section
from portal.core.db import transaction
from tests import cast as builders
from tests.applications.stories import ANSWERS, an_application, decider, history, the
from tests.cast import Cast, Meets
from tests.notifications.stories import notices
from tests.web.pages import press, words
from tests.web.visitors import browser_of


def here(section: Section, rest: object = "") -> str:
    return f"/terms/{section.term_id}/applications{rest}"


def number() -> int:
    with transaction() as session:
        return session.scalar(select(func.count(Application.id))) or 0


def a_draft(ada: FlaskClient, section: Section, kind: str = "permission") -> str:
    """The address of a new draft."""
    answer = ada.post(here(section, f"/new/{kind}"), data={"section": section.crn})
    assert answer.status_code == 303
    address: str = answer.location
    return address.partition("/steps/")[0]


def test_the_example_of_a_class_is_one_of_the_term(
    ada: FlaskClient, free: Section, term: Any, cast: Cast
) -> None:
    course = builders.a_course("ART-1")
    real = builders.a_section(course, term, instructor=cast.iris)
    page = words(ada.get(here(free, "/new/late_add")).text)
    assert f"A CRN such as {real.crn}, or ART 1-{real.number}." in page


def test_sending_and_withdrawing_has_an_end(free: Section, cast: Cast) -> None:
    account = cast.ada.account_id
    for _ in range(service.MOST_IN_TERM):
        service.withdraw(an_application("late_add", cast.ada, free), account)
    with pytest.raises(ApplicationRefused, match="often"):
        service.start(KINDS["late_add"], account, free.term_id, free.id)


def test_every_kind_can_be_started_until_its_last_day(ada: FlaskClient, free: Section) -> None:
    page = unescape(ada.get(here(free)).text)
    kinds = [each for each in KINDS.values() if "student" in each.applicants]
    for kind in kinds:
        assert str(kind.title) in page
        assert here(free, f"/new/{kind.name}") in page
    assert "Last day:" in page


def test_the_last_day_is_the_end_of_it(ada: FlaskClient, cast: Cast) -> None:
    term = builders.a_term("Fall 2020", starts_on="2020-08-26", ends_on="2020-12-20")
    section = builders.a_section(builders.a_course("BIO-1"), term)
    assert "Too late" in ada.get(here(section)).text
    answer = ada.post(here(section, "/new/late_add"), data={"section": section.crn})
    assert answer.status_code == 422
    assert "The last day to apply has passed." in unescape(answer.text)
    with pytest.raises(service.ApplicationRefused, match="too_late"):
        service.start(KINDS["late_add"], cast.ada.account_id, section.term_id, section.id)
    assert number() == 0


def test_the_whole_way_of_a_permission(ada: FlaskClient, free: Section, cast: Cast) -> None:
    draft = a_draft(ada, free)
    answer = ada.post(f"{draft}/steps/rules", data={"waives": ["prerequisite"]})
    assert answer.location == f"{draft}/steps/reason"
    answer = ada.post(answer.location, data={"why": "I took it elsewhere."})
    assert answer.location == f"{draft}/documents"
    assert f"{draft}/review" in ada.get(answer.location).text
    page = unescape(ada.get(f"{draft}/review").text)
    assert "Prerequisites" in page
    assert "I took it elsewhere." in page
    answer = ada.post(f"{draft}/review")
    assert answer.location == draft
    page = unescape(ada.get(draft).text)
    assert "In review" in page
    assert "You have nothing to do now." in page
    told = {(each.kind, each.account_id) for each in notices()}
    assert told == {
        ("application_sent", cast.max.id),
        ("application_moved", cast.ada.account_id),
    }


def test_a_draft_is_saved_and_resumed(app: Flask, ada: FlaskClient, free: Section) -> None:
    draft = a_draft(ada, free)
    ada.post(f"{draft}/steps/rules", data={"waives": ["prerequisite"]})
    other_device = browser_of(app, "ada")
    page = unescape(other_device.get(draft).text)
    assert "Not sent yet" in page
    assert "Continue the form" in page
    assert other_device.get(f"{draft}/review").location == f"{draft}/steps/reason"
    assert "checked" in other_device.get(f"{draft}/steps/rules").text


def test_starting_twice_opens_the_same_draft(ada: FlaskClient, free: Section) -> None:
    assert a_draft(ada, free) == a_draft(ada, free)
    assert number() == 1


def test_a_student_has_at_most_twenty_open_applications(
    ada: FlaskClient, term: Any, cast: Cast
) -> None:
    codes = [f"BIO-{number}" for number in range(21)]
    more, *others = [builders.a_section(builders.a_course(code), term) for code in codes]
    made = [
        service.start(KINDS["late_add"], cast.ada.account_id, each.term_id, each.id)
        for each in others
    ]
    answer = ada.post(here(more, "/new/late_add"), data={"section": more.crn})
    assert answer.status_code == 422
    assert "You have 20 applications that are not decided." in unescape(answer.text)
    service.withdraw(made[0], cast.ada.account_id)
    assert ada.post(here(more, "/new/late_add"), data={"section": more.crn}).status_code == 303


def test_sending_twice_sends_once(ada: FlaskClient, free: Section, cast: Cast) -> None:
    made = an_application("late_add", cast.ada, free)
    for _ in range(2):
        assert ada.post(here(free, f"/{made}/review")).location == here(free, f"/{made}")
    assert history(made) == ["submit"]
    assert len(notices()) == 2


def test_an_incomplete_application_is_not_sent(ada: FlaskClient, free: Section) -> None:
    draft = a_draft(ada, free)
    answer = ada.post(f"{draft}/steps/rules", data={"waives": ["no_such_rule"]})
    assert answer.status_code == 422
    answer = ada.post(f"{draft}/review")
    assert answer.location == f"{draft}/steps/rules"
    assert the(int(draft.rsplit("/", 1)[1])).state == "draft"


@pytest.mark.parametrize("why", ["", " \n ", "x" * 501])
def test_a_step_says_what_is_wrong(ada: FlaskClient, free: Section, why: str) -> None:
    draft = a_draft(ada, free, "late_add")
    answer = ada.post(f"{draft}/steps/reason", data={"why": why})
    assert answer.status_code == 422
    assert 'href="#why"' in answer.text


@pytest.mark.parametrize("kind", ["late_drop", "withdrawal"])
def test_only_seats_can_be_dropped(
    ada: FlaskClient, held: Section, free: Section, kind: str
) -> None:
    page = unescape(ada.get(here(held, f"/new/{kind}")).text)
    assert "CSC 1100-01" in page
    assert "MAT 1" not in page
    answer = ada.post(here(held, f"/new/{kind}"), data={"section": str(free.id)})
    assert answer.status_code == 422
    answer = ada.post(here(held, f"/new/{kind}"), data={"section": str(held.id)})
    assert answer.status_code == 303


def test_an_unpublished_section_is_not_found(ada: FlaskClient, free: Section, term: Any) -> None:
    secret = builders.a_section(builders.a_course("ART-1"), term, status="NEW")
    answer = ada.post(here(free, "/new/late_add"), data={"section": secret.crn})
    assert answer.status_code == 422
    assert number() == 0
    assert "ART" not in ada.get(here(free, f"/new/late_add?section={secret.id}")).text


def test_more_is_asked_for_and_sent(ada: FlaskClient, free: Section, cast: Cast) -> None:
    made = an_application("late_add", cast.ada, free)
    service.ask_more(made, decider(made, cast.max.id, "Which classes did you miss?"))
    page = unescape(ada.get(here(free, f"/{made}")).text)
    assert "Which classes did you miss?" in page
    assert "send it again" in page
    ada.post(here(free, f"/{made}/steps/reason"), data={**ANSWERS["late_add"], "missed": "One."})
    ada.post(here(free, f"/{made}/review"))
    assert (the(made).state, the(made).answers["missed"]) == ("review", "One.")


def test_what_was_sent_can_no_longer_be_changed(
    ada: FlaskClient, free: Section, cast: Cast
) -> None:
    made = an_application("late_add", cast.ada, free)
    ada.post(here(free, f"/{made}/steps/reason"), data={"why": "Something else."})
    assert the(made).answers["why"] == ANSWERS["late_add"]["why"]


def test_it_can_be_withdrawn_until_it_is_decided(
    ada: FlaskClient, free: Section, cast: Cast
) -> None:
    made = an_application("late_add", cast.ada, free)
    assert "It is not decided." in ada.get(here(free, f"/{made}/withdraw")).text
    assert ada.post(here(free, f"/{made}/withdraw")).status_code == 303
    assert the(made).state == "withdrawn"
    other = an_application("late_add", cast.ada, free)
    service.approve(other, decider(other, cast.max.id))
    assert ada.post(here(free, f"/{other}/withdraw")).status_code == 409
    assert the(other).state == "approved"


def test_the_status_page_shows_progress_and_decision(
    ada: FlaskClient, free: Section, cast: Cast
) -> None:
    made = an_application("credit_overload", cast.ada, free)
    page = unescape(ada.get(here(free, f"/{made}")).text)
    assert "In review: Department" in page
    assert "In review: Registrar" in page
    service.decline(made, decider(made, cast.max.id, "Your limit stays."))
    page = unescape(ada.get(here(free, f"/{made}")).text)
    assert "Your limit stays." in page
    assert "Max" not in page


def test_an_application_belongs_to_one_student(
    app: Flask, free: Section, cast: Cast, ada: FlaskClient
) -> None:
    made = an_application("late_add", cast.ada, free)
    ben = browser_of(app, "ben")
    for rest in ("", "/review", "/withdraw", "/steps/reason"):
        assert ben.get(here(free, f"/{made}{rest}")).status_code == 404
    assert ben.post(here(free, f"/{made}/withdraw")).status_code == 404
    assert ben.post(here(free, f"/{made}/steps/reason"), data={"why": "x"}).status_code == 404
    assert the(made).state == "review"
    other = builders.a_term("Spring 2031")
    assert ada.get(f"/terms/{other.id}/applications/{made}").status_code == 404


@pytest.mark.parametrize("rest", ["/new/eat", "/999999", "/999999/steps/reason"])
def test_nonsense_is_not_found(ada: FlaskClient, free: Section, rest: str) -> None:
    assert ada.get(here(free, rest)).status_code == 404


def test_a_refusal_leads_to_the_application_that_can_lift_it(
    ada: FlaskClient, free: Section, cast: Cast
) -> None:
    page = unescape(ada.post(f"/terms/{free.term_id}/sections/{free.id}/pick").text)
    address = here(free, f"/new/late_add?section={free.id}")
    assert f'href="{address}"' in page
    assert "Ask for a late add" in page
    assert "MAT 1" in unescape(ada.get(address).text)
    assert cast.ada


def test_refusals_that_one_permission_can_lift_lead_to_one_application(
    ada: FlaskClient, term: Any
) -> None:
    mine, barred = (
        builders.a_section(
            builders.a_course(code),
            term,
            meetings=(Meets("MR", "10:00", "11:50"),),
            prerequisites={"course": needs} if needs else {},
        )
        for code, needs in (("CSC-1", ""), ("CSC-2", "MAT-1"))
    )
    builders.an_open_window(term)
    press(ada, mine, "pick")
    page = unescape(ada.get(f"/terms/{term.id}/sections/{barred.id}/pick").text)
    assert "One request covers these: Prerequisite missing, Time conflict." in page
    assert page.count(here(barred, f"/new/permission?section={barred.id}")) == 1


def test_a_refused_drop_leads_to_the_late_drop(ada: FlaskClient, held: Section) -> None:
    page = unescape(ada.post(f"/terms/{held.term_id}/sections/{held.id}/drop").text)
    address = here(held, f"/new/late_drop?section={held.id}")
    assert f'href="{address}"' in page
    assert "Ask for a late drop" in page
    assert "CSC 1100" in unescape(ada.get(address).text)
