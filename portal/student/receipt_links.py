"""Receipts' codes beside what they are the receipts of."""

from collections.abc import Sequence

from markupsafe import Markup

from portal.student.drawing import drawn


def with_receipts(text: str, codes: Sequence[str]) -> Markup:
    """The text, and after it each code as a link to its receipt."""
    links = drawn("student/receipts.html", codes=codes)
    return Markup("{} {}").format(text, links.strip())
