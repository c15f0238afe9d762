"""Receipts' codes beside what they are the receipts of."""

from collections.abc import Sequence

from flask import render_template
from markupsafe import Markup


def with_receipts(text: str, codes: Sequence[str]) -> Markup:
    """The text, and after it each code as a link to its receipt."""
    links = render_template("student/receipts.html", codes=codes)
    return Markup("{} {}").format(text, Markup(links.strip()))  # noqa: S704 - both escape
