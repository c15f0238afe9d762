"""What may be wrong with a field, in the language of whoever asks."""

from marshmallow.validate import Length, Range

from portal.core.i18n import _, _l

# What the schemas' library says by itself.
SAID = (
    _l("Missing data for required field."),
    _l("Unknown field."),
    _l("Field may not be null."),
    _l("Invalid input type."),
    _l("Not a valid string."),
    _l("Not a valid integer."),
    _l("Not a valid number."),
    _l("Not a valid boolean."),
    _l("Not a valid list."),
    _l("Special numeric values (nan or infinity) are not permitted."),
)


def in_words(message: str) -> str:
    """What the library, or one of ours, has said of a field."""
    return _(str(message))


def within(least: int, most: int) -> Range:
    """A number from least to most."""
    return Range(least, most, error=_l("Must be from {min} to {max}."))


def so_many(least: int, most: int) -> Length:
    """A list of so many items."""
    return Length(least, most, error=_l("Must have from {min} to {max} items."))


def so_long(least: int, most: int) -> Length:
    """A text of so many characters."""
    return Length(least, most, error=_l("Must have from {min} to {max} characters."))
