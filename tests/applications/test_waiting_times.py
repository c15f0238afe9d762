"""Figures on waiting times, on the pages of admins and of deciders of departments."""

from datetime import timedelta
from html import unescape

import pytest
from flask.testing import FlaskClient
from sqlalchemy import update

from portal.applications import service
from portal.applications.models import Application, ApplicationEntry
from portal.catalog.models import Section
from portal.core.db import transaction
from portal.people.models import Account
from tests.applications.deciders import HERE, press
from tests.applications.stories import (
    ANSWERS,
    a_visiting_application,
    an_application,
    decider,
)
from tests.cast import Cast
from tests.web.pages import words

ADMINS = "/admin/applications"


def figures(browser: FlaskClient, page: str = HERE) -> str:
    """Return the figures of a page as text."""
    found = unescape(browser.get(page).text).partition('id="waiting">')[2].partition("</dl>")[0]
    return words(found).strip()


def make_older(application: int, hours: int) -> None:
    """Move the history of an application some hours into the past."""
    earlier = timedelta(hours=hours)
    entry = ApplicationEntry
    with transaction() as session:
        session.execute(
            update(Application)
            .where(Application.id == application)
            .values(submitted_at=Application.submitted_at - earlier)
        )
        session.execute(
            update(entry).where(entry.application_id == application).values(at=entry.at - earlier)
        )


def test_what_waits_for_the_department(
    iris: FlaskClient, admin: FlaskClient, made: int, elsewhere: int
) -> None:
    make_older(made, 5)
    make_older(elsewhere, 30)
    assert figures(iris) == (
        "Open 1 The oldest has waited 5 h Time to your decision, last 30 days None decided"
    )
    assert figures(admin, ADMINS).startswith("Open 2 The oldest has waited 30 h")


def test_filters_leave_the_figures(iris: FlaskClient, made: int) -> None:
    assert made
    assert figures(iris, f"{HERE}?q=nothing+like+it") == figures(iris)


def test_a_decider_sees_the_times_of_their_own_decisions(
    iris: FlaskClient, made: int, free: Section, cast: Cast
) -> None:
    second = an_application("credit_overload", cast.ben, free)
    by_an_admin = an_application("credit_overload", cast.cleo, free)
    for application, hours in ((made, 3), (second, 7), (by_an_admin, 40)):
        make_older(application, hours)
    press(iris, made, "approve")
    press(iris, second, "decline")
    service.approve(by_an_admin, decider(by_an_admin, cast.max.id))
    assert figures(iris).startswith("Open 0 The oldest has waited – ")
    assert figures(iris).endswith("Median 5 h, 90th percentile 6.6 h (2 decided)")


def test_to_ask_for_more_is_no_decision(iris: FlaskClient, made: int, cast: Cast) -> None:
    make_older(made, 9)
    press(iris, made, "more")
    assert figures(iris).endswith("None decided")
    service.save(made, cast.ada.account_id, ANSWERS["credit_overload"])
    service.submit(made, cast.ada.account_id)
    assert figures(iris).startswith("Open 1 The oldest has waited 0 min")
    make_older(made, 2)
    press(iris, made, "approve")
    assert figures(iris).endswith("Median 2 h, 90th percentile 2 h (1 decided)")


def test_an_answer_to_the_registrar_leaves_the_earlier_decision(
    iris: FlaskClient, made: int, cast: Cast
) -> None:
    make_older(made, 4)
    press(iris, made, "approve")
    service.ask_more(made, decider(made, cast.max.id))
    service.save(made, cast.ada.account_id, ANSWERS["credit_overload"])
    service.submit(made, cast.ada.account_id)
    assert figures(iris).endswith("Median 4 h, 90th percentile 4 h (1 decided)")
    press(iris, made, "approve")
    assert figures(iris).endswith("Median 2 h, 90th percentile 3.6 h (2 decided)")


def test_old_decisions_do_not_count(iris: FlaskClient, made: int) -> None:
    press(iris, made, "approve")
    make_older(made, 24 * 31)
    assert figures(iris).endswith("None decided")


@pytest.mark.usefixtures("paying")
def test_figures_of_each_kind(
    iris: FlaskClient, made: int, elsewhere: int, free: Section, vera: Account
) -> None:
    assert elsewhere
    press(iris, made, "decline")
    assert 'id="by-kind"' not in iris.get(HERE).text
    a_visiting_application(vera, free.term_id)
    table = unescape(iris.get(HERE).text).partition('id="by-kind"')[2].partition("</table>")[0]
    overload, visiting = [words(row).strip() for row in table.split("<tr>")[2:]]
    assert overload == "Credit overload 0 – 0 min 0 min 1"
    assert visiting.endswith(" 1 0 min – – 0")
