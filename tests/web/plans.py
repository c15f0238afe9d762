"""What a visit to the plan takes, with forms alone."""

import re
from html import unescape
from typing import Any

from flask.testing import FlaskClient

from portal.plans.plan import Plan
from portal.plans.store import plan_of
from tests.web.visits import address


def place(client: FlaskClient, section: Any, where: str = "new", **fields: Any) -> Any:
    """Open the form that asks where in the plan, and send it."""
    fields = {**own_fields(client.get(address(section, "plan")).text), "place": where, **fields}
    return client.post(address(section, "plan"), data=fields)


def own_fields(html: str) -> dict[str, str]:
    """The hidden fields of the page's own form."""
    form = html[html.index('<form action="/terms') :]
    return hidden_in(form[: form.index("</form>")])


def submission(html: str) -> dict[str, str]:
    """The hidden fields of the form that submits the plan on a page."""
    form = html[html.index('class="plan-go"') :]
    return hidden_in(form[: form.index("</form>")])


def hidden_in(html: str) -> dict[str, str]:
    """Hidden fields as a browser reads them."""
    found = re.findall(r'<input type="hidden" name="([\w-]+)" value="([^"]*)"', html)
    return {name: unescape(value) for name, value in found}


def panel(html: str) -> str:
    """My plan on a page."""
    found = re.search(r'<section class="panel plan".*?</section>', html, re.DOTALL)
    assert found, "no plan on the page"
    return found[0]


def result(html: str, number: int) -> str:
    """What came of a line, from 1."""
    items: list[str] = re.findall(
        r'<li data-outcome=.*?(?=<li data-outcome|</ol>\s*<div class="dialog-foot")',
        html,
        re.DOTALL,
    )
    return items[number - 1]


def planned(term: Any, student: Any) -> list[list[list[int]]]:
    """The sections of the plan's lines, by rank, as they are kept."""
    plan = plan_of(term.id, student.id) or Plan()
    return [[[part.section for part in each] for each in line.options] for line in plan.lines]
