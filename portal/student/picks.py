"""Pick a section, alone, with those it is linked to, or in exchange for another one."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from flask import abort
from flask.typing import ResponseReturnValue

from portal.catalog.term_catalog import SectionView
from portal.ledger.types import Decision, Outcome
from portal.registration import commands
from portal.registration.requests import Choice, SectionRequest
from portal.student import bp, choices, forms, line, wish
from portal.student.asking import card_of, seen
from portal.student.outcomes import done
from portal.student.pages import mine_of
from portal.student.resuming import adding, swapping
from portal.student.scene import Scene
from portal.web.http.access import requires
from portal.web.http.admission import needs_access_token
from portal.web.http.resuming import resumes

HAD_ALREADY = {"already_enrolled", "already_waiting"}
Form = Callable[[Scene, Sequence[Decision]], str]


@bp.get("/sections/<int:section_id>/pick")
@requires("student")
@resumes(adding)
def pick(term_id: int, section_id: int) -> ResponseReturnValue:
    """The form that asks before a seat is claimed, with all that is known to stand in the way."""
    now, card = seen(term_id, section_id)
    return _in_turn(now, card) or choices.pick(now, card)


@bp.post("/sections/<int:section_id>/pick")
@requires("student")
@resumes(adding)
@needs_access_token
def claim(term_id: int, section_id: int) -> ResponseReturnValue:
    """A seat or a place in line, or all the reasons why not."""
    card = card_of(term_id, section_id)
    return _decided(card, lambda now, refused: choices.pick(now, card, refused))


@bp.get("/sections/<int:section_id>/swap")
@requires("student")
@resumes(swapping)
def swap(term_id: int, section_id: int) -> ResponseReturnValue:
    """The form that asks before a seat is exchanged for another one."""
    now, card = seen(term_id, section_id)
    return _in_turn(now, card) or choices.swap(now, card, _held(card))


@bp.post("/sections/<int:section_id>/swap")
@requires("student")
@resumes(swapping)
@needs_access_token
def exchange(term_id: int, section_id: int) -> ResponseReturnValue:
    """The other seat, or a place in line for it, or all the reasons why the old one is kept."""
    card = card_of(term_id, section_id)
    old = _held(card)
    return _decided(card, lambda now, refused: choices.swap(now, card, old, refused), old.id)


@bp.get("/sections/<int:section_id>/swaps")
@requires("student")
@resumes(swapping)
def swaps(term_id: int, section_id: int) -> ResponseReturnValue:
    """The other sections of a course, to exchange the one that is held."""
    return choices.others(*seen(term_id, section_id))


def _in_turn(now: Scene, card: SectionView) -> ResponseReturnValue | None:
    """One's number in line, or the captcha, in place of a form; None for who is let in."""
    stands = line.come(now) if now.phase.kind == "open" else line.Line(now)
    return None if stands.inside else forms.waiting(stands, card)


def _decided(card: SectionView, form: Form, instead: int | None = None) -> ResponseReturnValue:
    """Ask the ledger; `form` is what it was asked with, to show why it refuses."""
    try:
        amount = wish.credits_wished(card)
    except ValueError:
        return form(mine_of(card.term_id), [choices.credit_range(card)]), 422
    partners = [SectionRequest(each) for each in wish.partners()]
    asked = [Choice(((SectionRequest(card.id, amount), *partners),), wish.wait_wished(), instead)]
    decided = commands.register(wish.asker(card.term_id), asked)
    [line] = decided.lines
    answers = [
        replace(each, replayed=decided.replayed, standing=decided.standing)
        for each in line.taken or line.refused[0]
    ]
    if line.outcome == Outcome.REFUSED:
        now = mine_of(card.term_id, decided)
        if not _had(answers, now, instead):
            return form(now, answers), 422
    return done(answers, card)


def _had(answers: Sequence[Decision], now: Scene, instead: int | None) -> bool:
    """Whether all that was refused is had already, and on the same terms."""
    if {reason.code for each in answers for reason in each.reasons} - HAD_ALREADY:
        return False
    places = (now.places.get(each.section) for each in answers)
    return all(place is None or place.instead == (instead or 0) for place in places)


def _held(card: SectionView) -> SectionView:
    """The section that the address names to be given up; 404 where that is none or the same."""
    old = card_of(card.term_id, wish.instead())
    if old.id == card.id:
        abort(404)
    return old
