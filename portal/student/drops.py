"""Give up a seat, with those that need it where the student says so, or a place in line."""

from flask.typing import ResponseReturnValue

from portal.registration import commands
from portal.student import bp, forms, wish
from portal.student.asking import card_of, seen
from portal.student.outcomes import done
from portal.student.pages import mine_of
from portal.student.resuming import dropping, leaving
from portal.web.http.access import requires
from portal.web.http.resuming import resumes


@bp.get("/sections/<int:section_id>/drop")
@requires("student")
@resumes(dropping)
def drop(term_id: int, section_id: int) -> ResponseReturnValue:
    """The form that asks before a seat is given up."""
    now, card = seen(term_id, section_id)
    along = [card_of(term_id, each) for each in wish.along()]
    return forms.drop(now, card, along)


@bp.post("/sections/<int:section_id>/drop")
@requires("student")
@resumes(dropping)
def give_up(term_id: int, section_id: int) -> ResponseReturnValue:
    """The seat given up, or why not."""
    card = card_of(term_id, section_id)
    along = [card_of(term_id, each) for each in wish.along()]
    decided = commands.drop(wish.asker(term_id), section_id, [each.id for each in along])
    if decided.reasons:
        return forms.drop(mine_of(term_id, decided), card, along, [decided]), 422
    return done([decided], card, along)


@bp.get("/sections/<int:section_id>/leave")
@requires("student")
@resumes(leaving)
def leave(term_id: int, section_id: int) -> ResponseReturnValue:
    """The form that asks before a place on a waitlist is given up."""
    return forms.leave(*seen(term_id, section_id))


@bp.post("/sections/<int:section_id>/leave")
@requires("student")
@resumes(leaving)
def step_out(term_id: int, section_id: int) -> ResponseReturnValue:
    """The place given up, or why not."""
    card = card_of(term_id, section_id)
    decided = commands.leave_waitlist(wish.asker(term_id), section_id)
    if decided.reasons:
        return forms.leave(mine_of(term_id, decided), card, [decided]), 422
    return done([decided], card)
