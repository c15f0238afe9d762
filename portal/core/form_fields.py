"""Fields of forms that know neither Flask nor the portal's data: texts and choices."""

from collections.abc import Callable, Mapping
from typing import Any

from wtforms import RadioField, SelectField, SelectMultipleField, StringField
from wtforms.fields import SelectChoice
from wtforms.validators import StopValidation
from wtforms.widgets import TextArea

from portal.core.i18n import _, _l

LONGEST_NOTE = 500  # characters


def whole_number(text: str, digits: int = 9) -> int | None:
    """Return the number of a text of so many ASCII digits at most, else None."""
    text = text.strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) <= digits else None


class TextField(StringField):  # type: ignore[misc]
    """One line of text, without surplus blanks."""

    def __init__(
        self,
        label: str,
        *,
        required: bool = True,
        longest: int = 160,
        missing: str = "",
        too_long: str = "",
        **more: Any,
    ) -> None:
        more["render_kw"] = {"maxlength": longest, "autocomplete": "off"} | more.get(
            "render_kw", {}
        )
        super().__init__(label, **more)
        self.flags.required = required
        self.longest, self.missing, self.too_long = longest, missing, too_long

    def process_formdata(self, valuelist: list[str]) -> None:
        self.data = self.tidy(valuelist[0] if valuelist else "")

    def tidy(self, text: str) -> str:
        """Return the text on one line, without surplus blanks."""
        return " ".join(text.replace("\0", "").split())

    def pre_validate(self, form: Any) -> None:  # noqa: ARG002
        """Raise StopValidation if the text is missing or too long."""
        facts = {"field": self.label.text, "most": self.longest}
        if self.flags.required and not self.data:
            missing = str(self.missing) or _("%(field)s: fill in this field.")
            raise StopValidation(missing % facts)
        if self.data and len(self.data) > self.longest:
            long = _("%(field)s: enter at most %(most)s characters.", **facts)
            raise StopValidation(str(self.too_long) % facts if self.too_long else long)


class NoteField(TextField):
    """A short optional text of several lines."""

    widget = TextArea()

    def __init__(
        self, label: str, *, required: bool = False, longest: int = LONGEST_NOTE, **more: Any
    ) -> None:
        more.setdefault("render_kw", {"rows": 3})
        more.setdefault("too_long", _l("Enter at most %(most)s characters."))
        super().__init__(label, required=required, longest=longest, **more)

    def tidy(self, text: str) -> str:
        """Return the text line by line, without surplus blanks."""
        lines = (" ".join(line.split()) for line in text.replace("\0", "").splitlines())
        return "\n".join(lines).strip()


Choices = Mapping[str, str]  # from value to label


class _Choosing:
    """The base of fields with choices. `choices` is a mapping, or a function that returns one."""

    choices: list[SelectChoice]
    data: Any

    def __init__(
        self,
        label: str,
        *,
        choices: "Choices | Callable[[], Choices] | None" = None,
        missing: str = "",
        **more: Any,
    ) -> None:
        super().__init__(label, validate_choice=False, **more)  # type: ignore[call-arg]
        self.missing = missing
        self.offer((choices() if callable(choices) else choices) or {})

    def offer(self, choices: Choices) -> None:
        """Set the choices of one form."""
        self.choices = [SelectChoice(value, label) for value, label in choices.items()]

    def pre_validate(self, form: Any) -> None:  # noqa: ARG002
        """Raise StopValidation if none of the choices is chosen."""
        if self.data not in {choice.value for choice in self.choices}:
            raise StopValidation(str(self.missing) or _("Choose one from the list."))


class ChoicesField(_Choosing, SelectMultipleField):  # type: ignore[misc]
    """Check boxes for any number of choices; `data` keeps the order of the choices.

    `chips`: the choices are short, and shown side by side.
    """

    def __init__(self, label: str, *, chips: bool = False, **more: Any) -> None:
        super().__init__(label, **more)
        self.chips = chips

    def pre_validate(self, form: Any) -> None:  # noqa: ARG002
        """Raise StopValidation if a value is unknown, or a required choice is missing."""
        offered = [choice.value for choice in self.choices]
        ticked = set(self.data or ())
        if unknown := sorted(ticked.difference(offered)):
            names = ", ".join(unknown[:5])
            raise StopValidation(_("Not in the list: %(names)s.", names=names))
        if self.missing and not ticked:
            raise StopValidation(str(self.missing))
        self.data = [value for value in offered if value in ticked]


class OneOfField(_Choosing, RadioField):  # type: ignore[misc]
    """Radio buttons. The user must choose one."""


class SelectOneField(_Choosing, SelectField):  # type: ignore[misc]
    """A list to choose one from."""
