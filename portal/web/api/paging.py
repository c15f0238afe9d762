"""Lists that come in pages."""

from typing import Any

import marshmallow as ma
from marshmallow import fields

from portal.web.api.fields import QueryInteger
from portal.web.api.schemas import Answer

PAGE, LARGEST_PAGE, LAST_PAGE = 40, 100, 100_000


class PageQuery(ma.Schema):
    page = QueryInteger(1, LAST_PAGE, load_default=1)
    per_page = QueryInteger(1, LARGEST_PAGE, load_default=PAGE)


class Page(Answer):
    page = fields.Integer()
    per_page = fields.Integer()
    pages = fields.Integer()
    total = fields.Integer()


def page_of(query: dict[str, Any], total: int) -> dict[str, Any]:
    """Return the fields of Page for a list of so many rows."""
    page, size = query["page"], query["per_page"]
    return {"page": page, "per_page": size, "pages": -(-total // size), "total": total}
