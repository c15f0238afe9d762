"""A visit to the picker: who may claim now, who waits for it, and where a pass is given out."""

from dataclasses import dataclass
from time import time
from typing import Literal

from flask import Flask, Response, current_app, g

from portal.backend import backend
from portal.gate import captcha, guard, passes, room
from portal.gate.passes import STAY, Pass
from portal.gate.places import Place
from portal.people.accounts import Visitor
from portal.windows.phases import Phase

# free: no gate. in: with a pass. out: nobody waits, whoever asks comes in. early, waiting: in line.
# unproven: the captcha comes first.
Kind = Literal["free", "in", "out", "early", "waiting", "unproven"]


@dataclass(frozen=True)
class Visit:
    """Where a student stands at the gate of a window."""

    kind: Kind
    place: Place | None = None
    held: Pass | None = None

    @property
    def waits(self) -> bool:
        """Whether others come first."""
        return self.kind in {"early", "waiting"}


FREE = Visit("free")


def start(app: Flask) -> None:
    """Hand out with each answer the pass that was given while it was made."""
    app.after_request(_hand_out)


def visit(term: int, phase: Phase, who: Visitor) -> Visit:
    """How a student stands as a page is drawn: nobody gets in line by looking."""
    if not current_app.config["GATE"] or phase.kind not in {"before", "open"} or not phase.window:
        return FREE
    found = _held(term, phase, who)
    if found and not _old(found):
        return Visit("in", held=found)
    if not captcha.proven():
        return Visit("unproven")
    if _no_room():
        return _let_in(term, phase, who) if phase.kind == "open" else Visit("out")
    return _stands(term, phase, who, room.look(term, phase.window.id, who.student_id or 0))


def come(term: int, phase: Phase, who: Visitor) -> Visit:
    """Get in line, or in where nobody is ahead; raises WindowShut where the window has ended."""
    now = visit(term, phase, who)
    if now.kind != "out" or not phase.window or _no_room():
        return now
    return _stands(term, phase, who, room.enter(term, phase.window.id, who.student_id or 0))


def _stands(term: int, phase: Phase, who: Visitor, place: Place) -> Visit:
    if place.kind == "called":
        return _let_in(term, phase, who, place)
    if place.kind in {"early", "waiting"}:
        return Visit("early" if place.kind == "early" else "waiting", place)
    queue = place.room.phase == "open" and place.room.waiting > 0
    return Visit("out", place if queue else None)


def _let_in(term: int, phase: Phase, who: Visitor, place: Place | None = None) -> Visit:
    """A pass, for as long as the room lets one stay."""
    window = phase.window
    if window is None:
        return FREE
    ends = min(window.closes, phase.now + STAY)
    if place:
        stays = room.stay(term, window.id, who.student_id or 0)
        if stays is None:
            return Visit("out")
        ends = min(window.closes, stays)
    g.given = Pass(who.id, term, window.id, ends)
    return Visit("in", place, g.given)


def _held(term: int, phase: Phase, who: Visitor) -> Pass | None:
    """The pass that was brought, if it is for this window."""
    found = guard.carried()
    fits = found and (found.account, found.term) == (who.id, term)
    return found if found and fits and phase.window and found.window == phase.window.id else None


def _old(found: Pass) -> bool:
    return found.ends - time() * 1000 < STAY / 2


def _no_room() -> bool:
    return backend().settings.room is None


def _hand_out(response: Response) -> Response:
    given: Pass | None = g.pop("given", None)
    if given:
        response.set_cookie(
            guard.COOKIE,
            passes.write(given),
            max_age=max(1, int(given.ends / 1000 - time())),
            path=f"/terms/{given.term}",
            secure=current_app.config["SESSION_COOKIE_SECURE"],
            httponly=True,
            samesite="Lax",
        )
    return response
