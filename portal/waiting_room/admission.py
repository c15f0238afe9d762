"""Who may register now, who has to wait, and when an access token is issued."""

from dataclasses import dataclass, replace
from time import time
from typing import Literal

from portal.backend import backend
from portal.waiting_room import room
from portal.waiting_room.access_tokens import LIFETIME, AccessToken
from portal.waiting_room.room import QueueEntry
from portal.windows.phases import Phase

# free: no gate. in: with an access token. out: not in the queue. early, waiting: in the queue.
# unproven: the captcha comes first.
Kind = Literal["free", "in", "out", "early", "waiting", "unproven"]


@dataclass(frozen=True)
class Applicant:
    """A student who wants to register, with the token and proof in their request."""

    account: int
    student: int
    token: AccessToken | None = None  # valid for this account
    proven: bool = True  # the captcha is solved, or is not needed


@dataclass(frozen=True)
class Admission:
    """The state of a student who wants to register in a window."""

    kind: Kind
    entry: QueueEntry | None = None
    token: AccessToken | None = None

    @property
    def waits(self) -> bool:
        return self.kind in {"early", "waiting"}


FREE = Admission("free")


def look_up(term: int, phase: Phase, who: Applicant) -> Admission:
    """Return the student's state without joining the queue."""
    if phase.kind not in {"before", "open"} or not phase.window:
        return FREE
    token = who.token if who.token and who.token.term == term else None
    if token and without_rooms():
        return Admission("in", token=token)
    if token:  # for any window: several may be open to one; the student may have left it elsewhere
        entry = room.queue_entry(term, token.window, who.student)
        if entry.kind == "called":
            return Admission("in", entry, _renewed(token, who))
    if not who.proven:
        return Admission("unproven")
    if without_rooms():
        return _admit(term, phase, who) if phase.kind == "open" else Admission("out")
    return _of_entry(term, phase, who, room.queue_entry(term, phase.window.id, who.student))


def enter(term: int, phase: Phase, who: Applicant) -> Admission:
    """Join the queue, or be admitted if it is empty; raise WindowEnded."""
    now = look_up(term, phase, who)
    if now.kind != "out" or not phase.window or without_rooms():
        return now
    return _of_entry(term, phase, who, room.enter(term, phase.window.id, who.student))


def issue(term: int, phase: Phase, who: Applicant, *, in_room: bool) -> AccessToken | None:
    """Return an access token until the stay in the room ends, or the window where there is none.

    None where the room does not let the student stay.
    """
    window = phase.window
    if window is None:
        return None
    ends = room.extend_stay(term, window.id, who.student) if in_room else window.closes
    return AccessToken(who.account, term, window.id, min(window.closes, ends)) if ends else None


def without_rooms() -> bool:
    """Return whether windows have no waiting rooms: everyone is admitted at the opening."""
    return backend().settings.room is None


def _of_entry(term: int, phase: Phase, who: Applicant, entry: QueueEntry) -> Admission:
    if entry.kind == "called":
        return _admit(term, phase, who, entry)
    if entry.kind in {"early", "waiting"}:
        return Admission("early" if entry.kind == "early" else "waiting", entry)
    return Admission("out", entry if entry.room.full else None)


def _admit(term: int, phase: Phase, who: Applicant, entry: QueueEntry | None = None) -> Admission:
    token = issue(term, phase, who, in_room=entry is not None)
    return Admission("in", entry, token) if token else Admission("out")


def _renewed(token: AccessToken, who: Applicant) -> AccessToken:
    """Return the token; once half of its time is over, a new one."""
    if token.ends - time() * 1000 > LIFETIME / 2:
        return token
    ends = room.extend_stay(token.term, token.window, who.student)
    return replace(token, ends=ends) if ends and ends > token.ends else token
