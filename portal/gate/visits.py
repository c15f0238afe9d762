"""A visit to the picker: who may claim now, who waits for it, and where a pass is given out."""

from dataclasses import dataclass, replace
from time import time
from typing import Literal, cast

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
    found = _held(term, who)
    if found and _lasts(found, who):  # whichever window it is for: several may be open to one
        return Visit("in", held=_renewed(found, who))
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


def give(term: int, phase: Phase, who: Visitor, place: Place | None) -> Pass | None:
    """A pass while the room lets its `place` stay, else None; while the window is open without."""
    window = phase.window
    if window is None:
        return None
    ends: int | None = window.closes
    if place:
        ends = room.stay(term, window.id, who.student_id or 0)
    return Pass(who.id, term, window.id, min(window.closes, ends)) if ends else None


def _stands(term: int, phase: Phase, who: Visitor, place: Place) -> Visit:
    if place.kind == "called":
        return _let_in(term, phase, who, place)
    if place.kind in {"early", "waiting"}:
        return Visit("early" if place.kind == "early" else "waiting", place)
    return Visit("out", place if place.room.full else None)


def _let_in(term: int, phase: Phase, who: Visitor, place: Place | None = None) -> Visit:
    given = give(term, phase, who, place)
    if given is None:
        return Visit("out")
    g.given = given
    return Visit("in", place, given)


def _held(term: int, who: Visitor) -> Pass | None:
    """The pass that was brought, if it is one of this student and term."""
    found = guard.carried()
    return found if found and (found.account, found.term) == (who.id, term) else None


def _lasts(found: Pass, who: Visitor) -> bool:
    """Whether the room still lets its bearer in: they may have left it on another device."""
    if _no_room():
        return True
    return room.look(found.term, found.window, who.student_id or 0).kind == "called"


def _renewed(found: Pass, who: Visitor) -> Pass:
    """The pass, or a longer one where half its time is over and the room lets its bearer stay."""
    if found.ends - time() * 1000 > STAY / 2 or _no_room():
        return found
    ends = room.stay(found.term, found.window, who.student_id or 0)
    if ends and ends > found.ends:
        g.given = replace(found, ends=ends)
    return cast("Pass", g.get("given", found))


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
