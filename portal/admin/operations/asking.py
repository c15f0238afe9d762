"""The page or dialog on which an admin confirms what is about to be done, and says why."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from flask import flash, render_template
from flask.typing import ResponseReturnValue

from portal.admin.operations import remembered
from portal.admin.times import Reading
from portal.core.i18n import _l
from portal.web.http.layout import go

# Where one comes from: the address, and what it is called.
Back = tuple[str, str]
HOME: Back = ("/admin/operations", _l("Operations"))


@dataclass(frozen=True)
class Question:
    """What it is about, what it will mean, and the button that does it."""

    title: str
    facts: Sequence[tuple[str, str]]
    meaning: str
    button: str
    danger: bool = False
    kept: Mapping[str, object] = field(default_factory=dict)  # hidden fields
    trace: str = ""
    back: Back = HOME


def ask(question: Question, reading: Reading, status: int = 200) -> ResponseReturnValue:
    """The form; where it can't be done (409), why."""
    page = render_template(
        "admin/operations/ask.html", question=question, reading=reading, possible=status != 409
    )
    return page, status


def done(message: str, back: Back = HOME) -> ResponseReturnValue:
    """Back to the page, which shows it at once."""
    remembered.forget()
    flash(message)
    return go(back[0])
