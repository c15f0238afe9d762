"""The form of a public value of a round or a draw, which is shown once more before it counts."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from flask import request
from flask.typing import ResponseReturnValue

from portal.catalog.local_time import local_clock
from portal.core.i18n import _, _l
from portal.web.confirm import Confirmation, confirm, show
from portal.web.forms import Form, ReasonField, TextField
from portal.windows import drand
from portal.windows.rounds import normal_value


class ValueForm(Form):
    value = TextField(
        _l("Public value"),
        longest=300,
        missing=_l("Enter the value that was published."),
        description=_l(
            "It is stored in small letters, without spaces at its ends, and with single spaces"
            " inside. The next page shows it once more."
        ),
        filters=[lambda value: normal_value(value or "")],
    )
    reason = ReasonField()


UNCLEAR = _l(
    "Name the chain of drand and the number of one round, such as “drand quicknet round 4711”. The"
    " chains are %(names)s."
)
TOO_EARLY = _l(
    "This round of drand appears at %(when)s: someone may know it before the value may be known."
    " Name round %(number)s or a later one."
)


def check_source(form: Form) -> bool:
    """Refuse the `public_source` of a form if it is known before `public_at`, as far as we know."""
    source, at = form.public_source.data or "", form.public_at.data
    if at is None or drand.suits(source, at):
        return True
    if found := drand.find(source):
        when, number = local_clock().full(found.appears), found.chain.first(at)
        form.refuse(TOO_EARLY % {"when": when, "number": number}, "public_source")
    else:
        form.refuse(UNCLEAR % {"names": ", ".join(drand.CHAINS)}, "public_source")
    return False


def value_page(facts: list[tuple[str, str]], back: tuple[str, str], **more: Any) -> Confirmation:
    """Return the page to enter a public value, with facts about what it is for."""
    return Confirmation(
        title=_("Enter the public value"),
        button=_("Look at it once more"),
        back=back,
        facts=facts,
        meaning=[
            _("Enter it exactly as it was published. Anyone can compare it. You can’t change it.")
        ],
        **more,
    )


def ask_for_value(
    page: Confirmation, button: str, source: str, act: Callable[[str, str], str]
) -> ResponseReturnValue:
    """Ask for the value of a source, show it once more, and give it to `act`, with the reason."""
    form = ValueForm()
    sure = form.value.data == request.form.get("sure")
    if request.method == "GET" and not page.refusal:
        page = _fetched(page, form, source)
    elif request.method == "POST" and not sure and form.validate():
        page = replace(
            page,
            button=button,
            refusal="",
            facts=[*page.facts, (_("Value that will be stored"), form.value.data)],
            meaning=[_("Compare it with what was published, then confirm. You can’t change it.")],
            seen={**page.seen, "sure": form.value.data},
        )
        return show(page, form)
    return confirm(page, lambda reason: act(form.value.data, reason), form)


def _fetched(page: Confirmation, form: ValueForm, source: str) -> Confirmation:
    """Return the page, with the form filled in from drand if the source is a round of it."""
    value = drand.fetch(source)
    if value is None:
        return page
    if value:
        form.value.data = value
        note = _("The value was fetched from drand. Compare it with another source.")
    else:
        note = _("The value could not be fetched from drand. Try again, or enter it yourself.")
    return replace(page, meaning=[*page.meaning, note])
