"""The parts of a page that change by themselves, drawn the same for pages and for sockets."""

from functools import lru_cache
from typing import Any

from flask import current_app
from markupsafe import Markup

from portal.seats.answers import Seats
from portal.seats.case import credits_in_words, points
from portal.seats.reasons import told
from portal.student.scene import Scene


@lru_cache(maxsize=10_000)
def seats(counts: Seats) -> Markup:
    """The live counts of a section, id seats-<section>."""
    return _drawn("seats", seats=counts)


def act(scene: Scene, section: int) -> Markup:
    """What can be done about a section, id act-<section>; its phase comes from the banner."""
    return _act(
        scene.term.id,
        section,
        scene.case(None).named(section),
        scene.state(section),
        scene.opening,
    )


def banner(scene: Scene) -> Markup:
    """The phase of the selection and its countdown, id banner."""
    return _drawn("banner", scene=scene)


def mine(scene: Scene) -> Markup:
    """My selections and my waitlists, ids mine and place-<section>."""
    passed = {
        place.section: told(place.reasons, scene.case(scene.board.card(place.section)))
        for place in scene.standing.waiting
    }
    return _drawn("mine", scene=scene, points=points, amount=credits_in_words, passed=passed)


def bar(scene: Scene) -> Markup:
    """The sum of my selections, for phones, id mine-bar."""
    return _drawn("bar", scene=scene, points=points)


def out_of_band(fragment: Markup) -> Markup:
    """The fragment as htmx puts it in its place, beside an answer that goes elsewhere."""
    return Markup(str(fragment).replace(" id=", ' hx-swap-oob="true" id=', 1))  # noqa: S704


def toast(
    title: str, text: str = "", tone: str = "", *, brief: bool = False, about: int = 0
) -> Markup:
    """A short piece of news, added to #toasts; a `brief` one goes by itself.

    News about a section replaces what was said about the same one before.
    """
    return _drawn("toast", title=title, text=text, tone=tone, brief=brief, about=about)


@lru_cache(maxsize=10_000)
def _act(term: int, section: int, name: str, state: str, opening: str) -> Markup:
    return _drawn("act", term=term, section=section, name=name, state=state, opening=opening)


def _drawn(fragment: str, **facts: Any) -> Markup:
    template = current_app.jinja_env.get_template(f"fragments/{fragment}.html")
    return Markup(template.render(facts))  # noqa: S704 - the templates escape
