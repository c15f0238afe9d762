"""What a change of a section will mean, on the page to confirm it on."""

from collections.abc import Sequence
from dataclasses import dataclass

from flask import render_template
from flask.typing import ResponseReturnValue

from portal.admin.affected import Person
from portal.admin.sections.fields import Form
from portal.admin.sections.words import NOT_POSSIBLE
from portal.admin.times import Reading
from portal.catalog.sections import EDITABLE, Difference, StoredSection
from portal.catalog.term_catalog import catalog_of


@dataclass(frozen=True)
class Preview:
    """What a change will mean."""

    changes: list[Difference]
    impact: list[str]
    cautions: list[str]
    takes: bool  # something from students, so that it needs a reason
    clashing: Sequence[Person] = ()  # for whom the new times clash with another section
    people: Sequence[Person] = ()  # everyone with a seat or a place on the waitlist


def barred(stored: StoredSection) -> Reading:
    """What stands against any change of it."""
    reading = Reading()
    if stored.deleted or stored.status not in EDITABLE:
        reading.wrong("", str(NOT_POSSIBLE["deleted" if stored.deleted else stored.status]))
    return reading


def confirm(
    stored: StoredSection, form: Form, reading: Reading, preview: Preview
) -> ResponseReturnValue:
    """The page to confirm the change on, and to say why."""
    page = render_template(
        "admin/section_confirm.html",
        term=catalog_of(stored.term_id).term,
        stored=stored,
        preview=preview,
        reading=reading,
        kept=[*form.items(multi=True)],
        reason=form.get("reason", ""),
    )
    return page, 422 if reading.errors else 200
