"""Visits to the plan with plain forms."""

import re
from html import unescape
from typing import Any

from flask.testing import FlaskClient
from sqlalchemy import select

from portal.core.db import transaction
from portal.recorder.models import LoggedEvent
from portal.recorder.recorder import drain
from portal.registration import plans
from portal.registration.plan_store import change, plan_of
from portal.registration.plans import Plan
from portal.registration.requests import Choice
from tests import cast as builders
from tests.web.pages import address


def plan_section(client: FlaskClient, section: Any, where: str = "new", **fields: Any) -> Any:
    """Open the form that adds a section to the plan, and send it."""
    fields = {**own_fields(client.get(address(section, "plan")).text), "place": where, **fields}
    return client.post(address(section, "plan"), data=fields)


def own_fields(html: str) -> dict[str, str]:
    """Return the hidden fields of the page's own form."""
    form = html[html.index('<form action="/terms') :]
    return hidden_in(form[: form.index("</form>")])


def submission(html: str) -> dict[str, str]:
    """Return the hidden fields of the form that submits the plan."""
    form = html[html.index('class="plan-go"') :]
    return hidden_in(form[: form.index("</form>")])


def hidden_in(html: str) -> dict[str, str]:
    """Return hidden fields as a browser reads them."""
    found = re.findall(r'<input type="hidden" name="([\w-]+)" value="([^"]*)"', html)
    return {name: unescape(value) for name, value in found}


def panel(html: str) -> str:
    """Return the plan panel of a page."""
    found = re.search(r'<section class="panel plan".*?</section>', html, re.DOTALL)
    assert found, "no plan on the page"
    return found[0]


def result(html: str, number: int) -> str:
    """Return the result of a choice, from 1."""
    items: list[str] = re.findall(
        r'<li data-outcome=.*?(?=<li data-outcome|</ol>\s*<div class="dialog-foot")',
        html,
        re.DOTALL,
    )
    return items[number - 1]


def planned(term: Any, student: Any) -> list[list[list[int]]]:
    """Return the sections of the stored plan's choices, by rank."""
    plan = plan_of(term.id, student.id) or Plan()
    return [
        [[part.section for part in each] for each in line.alternatives] for line in plan.choices
    ]


def a_class(term: Any, code: str, **fields: Any) -> Any:
    """Create a section of its own course."""
    return builders.a_section(builders.a_course(code), term, **fields)


def plan(term: Any, student: Any, *lines: Choice) -> None:
    """Store a plan of these choices."""
    change(term.id, student.id, 0, lambda _: Plan(lines))


def submit(client: FlaskClient, term: Any, page: str = "plan", **options: Any) -> Any:
    """Press the button on a page of the term."""
    form = submission(client.get(f"/terms/{term.id}/{page}".rstrip("/")).text)
    return client.post(f"/terms/{term.id}/plan/submit", data=form, **options)


def send(client: FlaskClient, term: Any, *lines: Choice, **fields: Any) -> Any:
    """Submit these choices, without the page."""
    data = {"plan": plans.write(Plan(lines)), "request": "one-key-of-many", **fields}
    return client.post(f"/terms/{term.id}/plan/submit", data=data)


def journal(term: Any, student: Any) -> list[int]:
    """Return the numbers of a student's events."""
    drain(term.id)
    found = select(LoggedEvent.seq).where(
        LoggedEvent.term_id == term.id, LoggedEvent.student_id == student.id
    )
    with transaction() as session:
        return list(session.scalars(found.order_by(LoggedEvent.seq)))
