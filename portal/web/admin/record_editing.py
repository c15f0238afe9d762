"""Creating and editing records: a form, what it changes, then the change.

A submitted form is stored as a draft and shown at its own address, so that going back in the
browser submits nothing again. The change is made when the admin confirms it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from flask import request
from flask.typing import ResponseReturnValue
from sqlalchemy.orm import Session
from werkzeug.datastructures import MultiDict

from portal.catalog.deletion import InTheWay
from portal.catalog.record_details import Difference, RecordChange
from portal.catalog.sections import NotPossible, Stale
from portal.core.db import ChangedMeanwhile
from portal.core.i18n import _
from portal.reports import audit_labels, audit_trail
from portal.reports.effects.sections import OBSTACLES
from portal.web import drafts
from portal.web.confirm import Confirmation, confirm
from portal.web.forms import Form, ReasonForm, Sent, render_form
from portal.web.http.access import visitor
from portal.web.http.layout import go

BUTTONS = ("csrf_token", "edit", "more", "confirmed", "reason", "refused")  # are not sent again
FORM = "admin/record_edit.html"
REVIEW = "admin/record_confirm.html"


@dataclass(frozen=True)
class RecordEdit:
    """A submitted form beside the stored details of a record, a section or a seat pool."""

    sent: Sent | None  # None: the page of the form is opened
    form: Any  # has `details` once it is valid
    stored: Any  # has a `mark`, and `differences` from other details
    subject: str  # of its entries in the audit trail
    back: tuple[str, str]  # the page of the record: address and name
    template: str = FORM
    context: Mapping[str, object] = field(default_factory=dict)  # for the template

    @property
    def seen(self) -> str:
        """Return the mark of the details that the form showed at first."""
        return self.stored.mark if self.sent is None else self.sent.get("version", "")

    @property
    def changes(self) -> list[Difference]:
        """Return what a valid form changes."""
        found: list[Difference] = self.stored.differences(self.form.details)
        return found

    def page_before_review(self, session: Session) -> ResponseReturnValue | None:
        """Return the page to show in place of a review; None if the form changes the record.

        That is the form, also beside what someone else has stored meanwhile; or the page of the
        record, if the form was sent twice.
        """
        if self.sent and self.sent.get("refused"):
            self.form.refuse(self.sent["refused"])
        if self.sent is None or not is_complete(self.sent, self.form):
            return self.show_form()
        if not self.changes and "confirmed" in self.sent:
            return go(self.back[0])
        if self.stored.mark != self.seen:
            facts = conflict(session, self.form, self.subject, self.stored.mark, self.changes)
            return self._show(**facts)
        if not self.changes:
            self.form.refuse(_("You have not changed anything."))
            return self.show_form()
        return None

    def show_form(self) -> ResponseReturnValue:
        """Render the form with its errors."""
        return self._show(version=self.seen)

    def _show(self, **context: Any) -> ResponseReturnValue:
        title = _("Edit %(name)s", name=self.back[1])
        context = {"title": title, "back": self.back, **self.context, **context}
        return show_form(self.form, self.template, **context)

    def confirm(
        self,
        store: Callable[[RecordChange[Any]], ResponseReturnValue],
        meaning: Sequence[str] = (),
        seen: Mapping[str, object] | None = None,
        reason: Form | None = None,
        template: str = REVIEW,
        **context: Any,
    ) -> ResponseReturnValue:
        """Show the changes and what they mean, and store them once they are confirmed."""
        page = Confirmation(
            title=_("Change %(name)s?", name=self.back[1]),
            button=_("Save changes"),
            back=self.back,
            meaning=meaning,
            seen=seen or {},
            context={"changes": self.changes, **context},
        )

        def act(reason: str) -> ResponseReturnValue:
            return store(RecordChange(self.form.details, visitor().id, reason, self.seen))

        return confirm_change(page, self.sent or MultiDict(), act, reason, template)


def is_complete(sent: Sent, form: Form) -> bool:
    """Return whether the form is valid, and sent neither for another row nor to edit it again."""
    return form.validate() and not {"edit", "more"} & sent.keys()


def show_form(form: Form, template: str = FORM, **context: Any) -> ResponseReturnValue:
    """Render a form with its errors; a POST redirects to it."""
    if request.method == "POST":
        return drafts.show_draft(request.path)
    return render_form(template, form, **context)


def conflict(
    session: Session, form: Form, subject: str, version: object, differs: list[Difference]
) -> dict[str, Any]:
    """Return what a form needs to show both versions of a record that has changed meanwhile."""
    if not differs:
        form.refuse(_("Someone else has already made this change."))
    last = next(iter(audit_trail.latest_about(session, subject)), None)
    facts = {"version": version, "differs": differs, "last": last, "status": 409}
    return {**facts, "labels": audit_labels}


def confirm_change(
    page: Confirmation,
    sent: Sent,
    store: Callable[[str], ResponseReturnValue],
    reason: Form | None = None,
    template: str = REVIEW,
) -> ResponseReturnValue:
    """Show what a valid form means, and store it once it is confirmed, by default with a reason.

    If something has changed meanwhile, show the form again: with what is wrong now, or beside the
    stored values.
    """

    def act(why: str) -> ResponseReturnValue:
        try:
            return store(why)
        except (ChangedMeanwhile, InTheWay, Stale):
            return drafts.show_draft(request.path)
        except NotPossible as refused:
            return drafts.show_draft(request.path, str(OBSTACLES[refused.code]))

    if request.method == "POST" and "confirmed" not in sent:
        return drafts.show_draft(request.path)
    seen: dict[str, object] = {name: values for name, values in sent.lists() if name not in BUTTONS}
    seen |= {**page.seen, "confirmed": "yes"}
    return confirm(replace(page, seen=seen, template=template), act, reason or ReasonForm())
