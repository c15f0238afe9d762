"""Fragments drawn by themselves: from what they are told alone."""

from typing import Any

from flask import current_app
from markupsafe import Markup


def drawn(name: str, /, **facts: Any) -> Markup:
    """A template without what pages have around their own content (portal/web/http/layout.py)."""
    pages = current_app.jinja_env
    template = pages.get_template(name)
    # What `template.render` does, but for going through its globals one by one, through two maps.
    context = pages.context_class(pages, {**pages.globals, **facts}, name, template.blocks)
    return Markup("".join(template.root_render_func(context)))  # noqa: S704 - templates escape
