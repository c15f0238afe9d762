"""Lists with a search and pages: what their address asks for."""

from flask import request

MOST_PAGES = 1000


def count_pages(items: int, size: int) -> int:
    """Return the number of pages of a list; an empty one has one."""
    return max(1, -(-items // size))


def page_number(pages: int = MOST_PAGES) -> int:
    """Return the page of the address, from 1 to `pages`."""
    return min(max(1, request.args.get("page", 1, type=int)), pages)


def search_text() -> str:
    """Return the search text of the address."""
    return request.args.get("q", "").replace("\0", "").strip()
