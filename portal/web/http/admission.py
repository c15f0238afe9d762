"""A visit to the picker: who may claim now, who waits for it, and where a pass is given out."""

from dataclasses import dataclass, replace
from time import time
from typing import Literal, cast

from flask import Flask, Response, current_app, g

from portal.backend import backend
from portal.people.visitors import Visitor
from portal.protection import captcha
from portal.waiting_room import access_tokens, room
from portal.waiting_room.access_tokens import LIFETIME, AccessToken
from portal.waiting_room.room import QueueEntry
from portal.web.http import guard
from portal.windows.phases import Phase

# free: no gate. in: with a pass. out: nobody waits, whoever asks comes in. early, waiting: in line.
# unproven: the captcha comes first.
Kind = Literal["free", "in", "out", "early", "waiting", "unproven"]


@dataclass(frozen=True)
class Admission:
    """Where a student stands at the gate of a window."""

    kind: Kind
    place: QueueEntry | None = None
    held: AccessToken | None = None

    @property
    def waits(self) -> bool:
        """Whether others come first."""
        return self.kind in {"early", "waiting"}


FREE = Admission("free")


def start(app: Flask) -> None:
    """Hand out with each answer the pass that was given while it was made."""
    app.after_request(_hand_out)


def look_up(term: int, phase: Phase, who: Visitor) -> Admission:
    """How a student stands as a page is drawn: nobody gets in line by looking."""
    if not current_app.config["GATE"] or phase.kind not in {"before", "open"} or not phase.window:
        return FREE
    found = _held(term, who)
    if found and _lasts(found, who):  # whichever window it is for: several may be open to one
        return Admission("in", held=_renewed(found, who))
    if not captcha.proven():
        return Admission("unproven")
    if _no_room():
        return _let_in(term, phase, who) if phase.kind == "open" else Admission("out")
    return _stands(term, phase, who, room.look(term, phase.window.id, who.student_id or 0))


def enter(term: int, phase: Phase, who: Visitor) -> Admission:
    """Get in line, or in where nobody is ahead; raises WindowShut where the window has ended."""
    now = look_up(term, phase, who)
    if now.kind != "out" or not phase.window or _no_room():
        return now
    return _stands(term, phase, who, room.enter(term, phase.window.id, who.student_id or 0))


def issue(term: int, phase: Phase, who: Visitor, place: QueueEntry | None) -> AccessToken | None:
    """A pass while the room lets its `place` stay, else None; while the window is open without."""
    window = phase.window
    if window is None:
        return None
    ends: int | None = window.closes
    if place:
        ends = room.extend_stay(term, window.id, who.student_id or 0)
    return AccessToken(who.id, term, window.id, min(window.closes, ends)) if ends else None


def _stands(term: int, phase: Phase, who: Visitor, place: QueueEntry) -> Admission:
    if place.kind == "called":
        return _let_in(term, phase, who, place)
    if place.kind in {"early", "waiting"}:
        return Admission("early" if place.kind == "early" else "waiting", place)
    return Admission("out", place if place.room.full else None)


def _let_in(term: int, phase: Phase, who: Visitor, place: QueueEntry | None = None) -> Admission:
    given = issue(term, phase, who, place)
    if given is None:
        return Admission("out")
    g.given = given
    return Admission("in", place, given)


def _held(term: int, who: Visitor) -> AccessToken | None:
    """The pass that was brought, if it is one of this student and term."""
    found = guard.sent_token()
    return found if found and (found.account, found.term) == (who.id, term) else None


def _lasts(found: AccessToken, who: Visitor) -> bool:
    """Whether the room still lets its bearer in: they may have left it on another device."""
    if _no_room():
        return True
    return room.look(found.term, found.window, who.student_id or 0).kind == "called"


def _renewed(found: AccessToken, who: Visitor) -> AccessToken:
    """The pass, or a longer one where half its time is over and the room lets its bearer stay."""
    if found.ends - time() * 1000 > LIFETIME / 2 or _no_room():
        return found
    ends = room.extend_stay(found.term, found.window, who.student_id or 0)
    if ends and ends > found.ends:
        g.given = replace(found, ends=ends)
    return cast("AccessToken", g.get("given", found))


def _no_room() -> bool:
    return backend().settings.room is None


def _hand_out(response: Response) -> Response:
    given: AccessToken | None = g.pop("given", None)
    if given:
        response.set_cookie(
            guard.COOKIE,
            access_tokens.encode(given),
            max_age=max(1, int(given.ends / 1000 - time())),
            path=f"/terms/{given.term}",
            secure=current_app.config["SESSION_COOKIE_SECURE"],
            httponly=True,
            samesite="Lax",
        )
    return response
