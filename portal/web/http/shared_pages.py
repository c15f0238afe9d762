"""Pages rendered once for all visitors who see the same, with each visitor's own parts filled in.

The shared page has a place for each own part: the visitor's name, the form token, the number of
unread notifications, and what its view names. It is rendered without them, so it can't show one
visitor's data to another. Everything else that it depends on must be in its key.
"""

import re
from collections.abc import Callable, Hashable
from secrets import token_hex
from typing import Any

from cachetools import LRUCache
from flask import current_app, g, render_template, request
from flask_wtf.csrf import generate_csrf
from markupsafe import Markup, escape

from portal.catalog.local_time import LocalClock
from portal.core import flags
from portal.core.i18n import current_locale
from portal.people.visitors import Visitor
from portal.recorder import read_with_fallback
from portal.web.http import flash_messages
from portal.web.http.access import visitor
from portal.web.http.assets import static_url
from portal.web.http.device_zone import clock_note, device_zone
from portal.web.http.layout import unread_count

KEPT = 200  # pages, some 30 KB each, and fragments
SECRET = token_hex(8)  # so that no stored text can name a place
PLACES = re.compile(rf"\[{SECRET} (\w+)\]")

Parts = dict[str, Markup]  # by name

_parts: LRUCache[Hashable, list[str]] = LRUCache(KEPT)


def render_shared(
    template: str, key: Hashable, own: Parts, facts: Callable[[Parts], dict[str, Any]]
) -> str:
    """Render a page with the visitor's own parts.

    `facts` returns the variables of the template, given the own parts or their places. They and
    the template may depend only on these, the key, the address, the language, the roles and
    whether the visitor decides for a department.
    """
    if _unusual():
        return render_template(template, **facts(own))
    who = visitor()
    known = template, key, who.roles, who.decides, current_locale(), *_surroundings()
    parts = _parts.get(known)
    if parts is None:
        placeholder = Visitor(
            0, place("name"), who.roles, None, frozenset(), 0, decides=who.decides
        )
        around = {"visitor": placeholder, "unread_count": lambda _account: place("unread")}
        places = {name: place(name) for name in own}
        parts = _keep(known, lambda: render_template(template, **around, **facts(places)))
    return _filled(parts, own | {"name": escape(who.name), "unread": unread_count(who.id)})


def render_shared_fragment(
    key: Hashable, render: Callable[[Parts], str], own: Parts | None = None
) -> Markup:
    """Render a fragment that depends on the key, the language, the form token and own parts.

    `render` gets the places of the own parts.
    """
    own, known = own or {}, (key, current_locale(), *_versions())
    parts = _parts.get(known)
    if parts is None or flags.known_off("caches"):
        parts = _keep(known, lambda: render({name: place(name) for name in own}))
    return Markup(_filled(parts, own))  # noqa: S704 - it is one


def place(name: str) -> Markup:
    """Return the place of an own part."""
    return Markup(f"[{SECRET} {name}]")  # noqa: S704 - names are ours


def _unusual() -> bool:
    """Return whether the page has more own parts than most, or must not come from a cache."""
    clock = LocalClock(current_app.config["SETTINGS"].zone)
    return bool(
        "HX-Request" in request.headers
        or read_with_fallback.recorded()
        or flash_messages.take()
        or clock_note(clock)
        or flags.known_off("caches")
        or visitor().viewer
    )


def _surroundings() -> tuple[Hashable, ...]:
    """Return what the layout of every page depends on (templates/base.html)."""
    zone = device_zone()
    return request.full_path, zone.key if zone else "", *_versions()


def _versions() -> tuple[str, ...]:
    return tuple(static_url(f"build/{name}") for name in ("style.css", "script.js", "start.js"))


def _keep(key: Hashable, render: Callable[[], str]) -> list[str]:
    """Keep what `render` returns with a place for the form token, split at the places.

    Texts and the names of places take turns.
    """
    token = generate_csrf()
    g.csrf_token = place("token")  # Flask-WTF's token of this request
    try:
        parts = _parts[key] = PLACES.split(render())
    finally:
        g.csrf_token = token
    return parts


def _filled(parts: list[str], own: Parts) -> str:
    own = {**own, "token": escape(generate_csrf())}
    parts = parts.copy()
    parts[1::2] = [own[name] for name in parts[1::2]]
    return "".join(parts)
