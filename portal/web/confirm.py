"""The page or dialog to confirm a change and give a reason.

A view describes the change and gives the function that makes it:

    @bp.route("/<int:hold_id>/lift", methods=["GET", "POST"])
    @requires(Right.CHANGE_HOLDS)
    def lift(student_id: int, hold_id: int) -> ResponseReturnValue:
        page = Confirmation(title=_("Lift the hold"), button=_("Lift it"), back=…, meaning=[…])
        return confirm(page, act)

A GET shows the page. A POST calls `act` with the reason, or shows the page again with the errors.
`act` must be safe to call twice. It must check that nothing has changed since the page was shown,
for example with a version among the `seen` fields. It returns the message to show on the page
`back`, or a response, or None after adding errors to the form. It raises ChangedMeanwhile, or
Refused or NotPossible if the change is no longer possible.

A form that edits stored values has its version among the `first_seen` fields. When it is shown
again with its errors, the version stays with the values that the admin began from.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from flask import abort, flash, request
from flask.typing import ResponseReturnValue

from portal.core.db import ChangedMeanwhile
from portal.core.errors import Refused
from portal.core.i18n import _l
from portal.web.forms import Form, ReasonForm, render_form
from portal.web.http.layout import go

CHANGED = _l("Someone else has changed this. Check it and try again.")


class NotPossible(Exception):
    """The change can't be made, or no longer: the message says why."""


@dataclass(frozen=True, kw_only=True)
class Confirmation:
    """A change to confirm: its facts, its effects, and its button."""

    title: str
    button: str = ""  # like the title if blank
    back: tuple[str, str]  # the previous page: address and name
    facts: Sequence[tuple[str, str]] = ()  # label and value
    meaning: Sequence[str] = ()
    danger: bool = False
    # Sent back in hidden fields; a list is sent as several of one name.
    seen: Mapping[str, object] = field(default_factory=dict)
    # Sent back too; if the form is shown again, as they were when it was shown at first.
    first_seen: Mapping[str, object] = field(default_factory=dict)
    # Why it can't be done, shown in place of the button until a valid form is submitted.
    refusal: str = ""
    template: str = "confirm.html"  # or one that extends it
    context: Mapping[str, object] = field(default_factory=dict)  # for such a template

    @property
    def hidden(self) -> list[tuple[str, object]]:
        """Return the name and value of each hidden field; None is sent as a blank."""
        first = {name: request.form.get(name, value) for name, value in self.first_seen.items()}
        return [
            (name, "" if each is None else each)
            for name, value in {**self.seen, **first}.items()
            for each in (value if isinstance(value, list) else [value])
        ]


@dataclass(frozen=True)
class Wording:
    """The texts of a change that a page offers."""

    title: str
    meaning: str
    done: str
    button: str = ""  # like the title if blank
    danger: bool = False

    def page(self, back: tuple[str, str], **more: Any) -> Confirmation:
        return Confirmation(
            title=str(self.title),
            button=str(self.button),
            back=back,
            meaning=[str(self.meaning)],
            danger=self.danger,
            **more,
        )


def confirm(
    page: Confirmation, act: Callable[[str], ResponseReturnValue | None], form: Form | None = None
) -> ResponseReturnValue:
    """Show the page with its form, by default a reason alone; or make the change.

    A form without a reason calls `act` with a blank one.

    A valid POST leaves it to `act` alone whether the change is possible, so that a form sent
    twice gets the same answer both times.
    """
    form = form or ReasonForm()
    if request.method != "POST":
        return show(page, form)
    if not form.validate():
        return show(page, form)
    page = replace(page, refusal="")
    try:
        found = act(form.data.get("reason", ""))
    except ChangedMeanwhile:
        return refused(page, str(CHANGED))
    except (NotPossible, Refused) as error:
        return refused(page, error.text if isinstance(error, Refused) else str(error))
    if isinstance(found, str):
        return done(found, page.back[0])
    return found or show(page, form)


def refused(page: Confirmation, why: str) -> ResponseReturnValue:
    """Show why the change can't be made, without its form."""
    return show(replace(page, refusal=why), ReasonForm(formdata=None))


def done(message: str, address: str) -> ResponseReturnValue:
    """Redirect to a page that shows the message."""
    flash(message)
    return go(address)


def seen_number(name: str = "version") -> int:
    """Return the number of a hidden field, such as the version that the page showed; else 400."""
    try:
        return int(request.form[name])
    except ValueError:
        abort(400)


def show(page: Confirmation, form: Form) -> ResponseReturnValue:
    """Render the page with its form."""
    status = 409 if page.refusal else 0
    return render_form(page.template, form, page=page, status=status, **page.context)
