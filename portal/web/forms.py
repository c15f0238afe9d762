"""Forms: the base class and its fields.

The macros of templates/macros/forms.html render every form: labels, hints, the input, the errors
beside each field, and all errors in a summary above.
"""

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal, InvalidOperation
from typing import Any, ClassVar

import wtforms
from flask import render_template, request
from flask_wtf import FlaskForm
from markupsafe import Markup
from werkzeug.datastructures import MultiDict
from wtforms import Field, StringField
from wtforms.validators import StopValidation
from wtforms.widgets import DateInput, DateTimeLocalInput, HiddenInput, TextArea

from portal.backend import backend
from portal.catalog import formatting
from portal.catalog.local_time import AmbiguousTime, SkippedTime, local_clock
from portal.core.db import transaction
from portal.core.form_fields import (
    ChoicesField,
    NoteField,
    OneOfField,
    SelectOneField,
    TextField,
    whole_number,
)
from portal.core.i18n import _, _l
from portal.notifications import mail
from portal.people.student_records import find_by_number

__all__ = [
    "ChoicesField",
    "DayField",
    "DecimalField",
    "EmailField",
    "Form",
    "MomentField",
    "NoteField",
    "NumberField",
    "OneOfField",
    "OptionalReasonForm",
    "ReasonField",
    "ReasonForm",
    "SelectOneField",
    "Sent",
    "StudentField",
    "StudentNumbersField",
    "TextField",
    "UsernameField",
    "decimal_number",
    "render_form",
    "whole_number",
]

Sent = MultiDict[str, str]  # the fields of a form, or of an address
LONGEST_NUMBER = 64  # characters of a student number as typed; real ones are shorter


class Form(FlaskForm):  # type: ignore[misc]
    """Base of every form. It reads a POST; give `request.args` for a form that is sent by GET."""

    class Meta(FlaskForm.Meta):  # type: ignore[misc]
        """How fields are rendered."""

        csrf = False  # CSRFProtect has checked the token of every POST before any view

        def wrap_formdata(self, form: Any, formdata: Any) -> Any:
            """Return what a form sent, and no JSON, whose values need not be texts."""
            return super().wrap_formdata(form, request.form if request.is_json else formdata)

        def render_field(self, field: Any, render_kw: dict[str, Any]) -> Markup:
            """Render a field's input, linked to its hint and its errors for screen readers."""
            about = [f"{field.id}-hint"] if field.description else []
            if field.errors:
                about.append(f"{field.id}-error")
                render_kw.setdefault("aria-invalid", "true")
            if about:
                render_kw.setdefault("aria-describedby", " ".join(about))
            drawn: Markup = super().render_field(field, render_kw)
            return drawn

    form_errors: list[str]
    rows: ClassVar[tuple[tuple[str, ...], ...]] = ()  # fields that stand side by side

    def in_rows(self) -> Iterator[list[Field]]:
        """Yield the fields from top to bottom, each with those beside it."""
        row_of = {name: row for row in self.rows for name in row}
        for field in self:
            row = row_of.get(field.short_name, (field.short_name,))
            if field.short_name == row[0]:
                yield [self[name] for name in row]

    def validate(self, extra_validators: Any = None) -> bool:
        """Check every field, then all of them together; return whether the form has no errors."""
        super().validate(extra_validators)
        self.check_together()
        return not self.errors

    def check_together(self) -> None:
        """Check the fields against each other, and build what they describe; does nothing here."""

    def hide(self, *fields: str) -> None:
        """Send fields back as they are, without showing them."""
        for name in fields:
            self[name].widget = HiddenInput()

    def refuse(self, message: object, field: str = "") -> None:
        """Add an error to a field, or to the form as a whole."""
        if field:
            self[field].errors = [*self[field].errors, str(message)]
        else:
            self.form_errors = [*self.form_errors, str(message)]


def render_form(template: str, form: Form, *, status: int = 0, **context: Any) -> tuple[str, int]:
    """Render a page with a form. Its status is `status`, else 422 for a form with errors or 200."""
    page = render_template(template, form=form, **context)
    return page, status or (422 if form.errors else 200)


class ReasonField(NoteField):
    """The reason for a change, which the audit trail stores."""

    widget = StringField.widget

    def __init__(self, label: str = "", *, required: bool = True, **more: Any) -> None:
        needed = _l("Reason") if required else _l("Reason (optional)")
        more.setdefault("description", _l("Saved in the audit trail. Students can’t see it."))
        more.setdefault(
            "missing", _l("Enter a reason. It is saved in the audit trail with your name.")
        )
        super().__init__(label or needed, required=required, render_kw={}, **more)


class UsernameField(TextField):
    """The username of a new account."""

    def __init__(self, **more: Any) -> None:
        super().__init__(
            _l("Username"),
            longest=64,
            missing=_l("Enter a username."),
            description=_l("For the login. It can’t be changed later."),
            render_kw={"spellcheck": "false", "autocapitalize": "none"},
            **more,
        )

    def pre_validate(self, form: Form) -> None:
        """Raise StopValidation if it is missing or too long, or has spaces or invisible signs."""
        super().pre_validate(form)
        if " " in self.data:
            raise StopValidation(
                _(
                    "A username has no spaces. Use dots instead, such as %(name)s.",
                    name=self.data.lower().replace(" ", "."),
                )
            )
        if not self.data.isprintable():
            raise StopValidation(_("Use letters, digits and visible symbols only."))


class EmailField(TextField):
    """An optional email address."""

    def __init__(self, **more: Any) -> None:
        kw = {"type": "email", "spellcheck": "false"}
        super().__init__(_l("Email"), required=False, longest=254, render_kw=kw, **more)

    def pre_validate(self, form: Form) -> None:
        """Raise StopValidation unless mail could be sent there."""
        super().pre_validate(form)
        if self.data and not mail.is_address(self.data):
            raise StopValidation(_("Enter an email address such as name@example.org."))


class StudentField(TextField):
    """The number of a student; `found` is the student's id."""

    found = 0

    def __init__(self, **more: Any) -> None:
        super().__init__(
            _l("Student number"),
            longest=60,
            missing=_l("Enter the student number."),
            render_kw={"spellcheck": "false"},
            **more,
        )

    def pre_validate(self, form: Form) -> None:
        """Raise StopValidation if no student has the number."""
        super().pre_validate(form)
        with transaction() as session:
            self.found = find_by_number(session, self.data) or 0
        if not self.found:
            raise StopValidation(_("No student has the number %(number)s.", number=self.data))


class StudentNumbersField(StringField):  # type: ignore[misc]
    """Student numbers with spaces, commas or lines between them; `data` has each once, sorted."""

    widget = TextArea()

    def __init__(self, label: str, *, most: int, **more: Any) -> None:
        more.setdefault("description", _l("Separate them with spaces, commas or new lines."))
        super().__init__(label, **more)
        self.most, self.given = most, 0

    def process_formdata(self, valuelist: list[str]) -> None:
        """Read the numbers. `given` counts those that come again, too."""
        found = re.findall(r"[^\s,;\0]+", "".join(valuelist[:1]))
        self.given, self.data = len(found), sorted({each[:LONGEST_NUMBER] for each in found})

    def pre_validate(self, form: Form) -> None:  # noqa: ARG002
        """Raise StopValidation if there are too many."""
        if len(self.data or ()) > self.most:
            raise StopValidation(
                _(
                    "The list has %(count)s students; it can have %(most)s. Choose years, levels"
                    " or majors instead, or split it into several windows.",
                    count=formatting.number(len(self.data)),
                    most=formatting.number(self.most),
                )
            )

    def _value(self) -> str:
        return self.raw_data[0] if self.raw_data else " ".join(self.data or ())


class NumberField(StringField):  # type: ignore[misc]
    """A whole number in a range; `data` is None until it is valid."""

    def __init__(
        self,
        label: str,
        *,
        least: int = 0,
        most: int | Decimal,
        message: str = "",
        required: bool = True,
        **more: Any,
    ) -> None:
        more["render_kw"] = {"inputmode": "numeric", "autocomplete": "off"} | more.get(
            "render_kw", {}
        )
        super().__init__(label, **more)
        self.flags.required = required
        self.least, self.most, self.message = least, most, message

    def process_formdata(self, valuelist: list[str]) -> None:
        """Read the number; None if the text is invalid or has too many digits for the range."""
        text = valuelist[0].strip() if valuelist else ""
        self.data = self.read(text)

    def read(self, text: str) -> Any:
        """Return the number in a text, or None."""
        return whole_number(text)

    def pre_validate(self, form: Form) -> None:  # noqa: ARG002
        """Raise StopValidation if the number is missing or out of range."""
        if not self.flags.required and not self._value().strip():
            return
        if self.data is None or not self.least <= self.data <= self.most:
            wrong = self.message or _l(
                "%(field)s: enter a whole number from %(least)s to %(most)s."
            )
            facts = {
                "field": self.label.text,
                "least": formatting.number(self.least),
                "most": formatting.number(self.most),
            }
            raise StopValidation(str(wrong) % facts)

    def _value(self) -> str:
        if self.raw_data:
            return str(self.raw_data[0])
        return "" if self.data is None else str(self.data)


def decimal_number(text: str) -> Decimal | None:
    """Return the number of a text with up to two decimal places, None if it is none or too big."""
    try:
        number = Decimal(text.strip().replace(",", "."))
    except InvalidOperation:
        return None
    # Compared, not computed with: an exponent of many digits would overflow, or take minutes.
    small = number.is_finite() and -(10**9) < number < 10**9
    return round(number, 2) if small and number == round(number, 2) else None


class DecimalField(NumberField):
    """A number with up to two decimal places, such as credits."""

    def __init__(self, label: str, **more: Any) -> None:
        more.setdefault("message", _l("%(field)s: enter a number from %(least)s to %(most)s."))
        super().__init__(label, render_kw={"inputmode": "decimal"}, **more)

    def read(self, text: str) -> Any:
        """Return the number in a text, or None."""
        return decimal_number(text)

    def _value(self) -> str:
        if self.raw_data:
            return str(self.raw_data[0])
        return "" if self.data is None else formatting.number(self.data)


class DateField(wtforms.DateField):  # type: ignore[misc]
    """A day without a time zone; spaces around it are ignored."""

    def process_formdata(self, valuelist: Sequence[str]) -> None:
        """Read the text of the form."""
        super().process_formdata([each.strip() for each in valuelist])


class TimeField(wtforms.TimeField):  # type: ignore[misc]
    """A time of day; spaces around it are ignored."""

    def process_formdata(self, valuelist: Sequence[str]) -> None:
        """Read the text of the form."""
        super().process_formdata([each.strip() for each in valuelist])


class DayField(StringField):  # type: ignore[misc]
    """An optional day in the institution's time zone; `data` is its start, in UTC.

    With `last=True`, it is the last day of a period: `data` is the end of the day, which must be in
    the future.
    """

    widget = DateInput()

    def __init__(self, label: str, *, last: bool = False, **more: Any) -> None:
        super().__init__(label, **more)
        self.last = last

    def process_formdata(self, valuelist: list[str]) -> None:
        """Read the day. Raise ValueError if the text is invalid."""
        self.data = None
        text = valuelist[0].strip() if valuelist else ""
        try:
            if text:
                day = date.fromisoformat(text) + timedelta(days=self.last)
                local = datetime.combine(day, time.min, backend().settings.zone)
                self.data = local.astimezone(UTC)
        except (ValueError, OverflowError) as error:
            wrong = _("%(field)s: enter a date such as 2030-11-23.", field=self.label.text)
            raise ValueError(wrong) from error

    def pre_validate(self, form: Form) -> None:  # noqa: ARG002
        """Raise StopValidation if the last day is over."""
        if self.data and self.last and self.data <= datetime.now(UTC):
            raise StopValidation(_("%(field)s: this date is in the past.", field=self.label.text))

    def _value(self) -> str:
        return str(self.raw_data[0]) if self.raw_data else ""


class MomentField(StringField):  # type: ignore[misc]
    """A day and time in the institution's time zone; `data` is the moment (ms), None if invalid.

    When clocks go back, a time occurs twice: the field then asks which one, in a second input.
    A field that is not required may be blank.
    """

    widget = DateTimeLocalInput()
    data: Any

    def __init__(self, label: str, *, required: bool = True, **more: Any) -> None:
        self.clock = local_clock()
        description = _("In %(zone)s", zone=self.clock.zone_name)
        super().__init__(label, **{"description": description} | more)
        self.flags.required = required
        self.choices: tuple[int, int] | None = None
        self.chosen = ""  # "first" or "second"

    def process(self, formdata: Any, *rest: Any, **more: Any) -> None:
        """Read the second input, too."""
        self.chosen = formdata.get(f"{self.name}_which", "") if formdata else ""
        super().process(formdata, *rest, **more)
        if self.raw_data is None and self.data is not None:
            self.choices = self._choices(self.clock.field(self.data))
            if self.choices:
                self.chosen = "second" if self.data >= self.choices[1] else "first"

    def process_formdata(self, valuelist: list[str]) -> None:
        """Read the moment. Raise ValueError if the text is invalid or ambiguous."""
        self.data = None
        text = valuelist[0].strip() if valuelist else ""
        if not (text or self.flags.required):
            return
        with_choice = {"first": False, "second": True}.get(self.chosen)
        try:
            self.choices = self._choices(text)
            self.data = self.clock.moment(text, second=with_choice)
        except AmbiguousTime as error:
            raise ValueError(
                _(
                    "%(field)s: the clocks go back that night, and this time comes twice."
                    " Choose one.",
                    field=self.label.text,
                )
            ) from error
        except SkippedTime as error:
            raise ValueError(self._skipped(text)) from error
        except (ValueError, OverflowError) as error:
            raise ValueError(
                _(
                    "%(field)s: enter a date and a time, such as November 23, 9:00 am.",
                    field=self.label.text,
                )
            ) from error

    def _choices(self, text: str) -> tuple[int, int] | None:
        """Return both moments of a time that occurs twice, so that the choice can be changed."""
        try:
            self.clock.moment(text)
        except AmbiguousTime as twice:
            return twice.choices
        return None

    def _skipped(self, text: str) -> str:
        before, after = self.clock.jump(text)
        return _(
            "The clocks go forward that night, and this time does not exist:"
            " %(last)s is followed by %(next)s.",
            last=f"{self.clock.clock(before)} {self.clock.name(before)}",
            next=self.clock.full(after),
        )

    def _value(self) -> str:
        if self.raw_data:
            return str(self.raw_data[0])
        return "" if self.data is None else self.clock.field(self.data)


class ReasonForm(Form):
    """A reason, and nothing else."""

    reason = ReasonField()


class OptionalReasonForm(Form):
    reason = ReasonField(required=False)
