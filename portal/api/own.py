"""Changes are made by students alone, each to what is their own."""

from typing import Any

from flask import abort
from flask.typing import ResponseReturnValue

from portal.access import visitor
from portal.api.keys import Request, headers
from portal.api.kinds import kind
from portal.api.reading import fault
from portal.api.schemas import said
from portal.catalog.board import Board, NoSuchTerm, board
from portal.errors import Words, problem
from portal.words import _, _l

UNKNOWN = _l("There is no such semester.")


def own(student: int) -> int:
    """The student, if that is who asks; else 403, whether there is such a student or not."""
    if student != visitor().student_id:
        abort(403)
    return student


def semester(term: int) -> Board:
    """What a semester that the body names has to offer; refuses one that there is not."""
    try:
        return board(term)
    except NoSuchTerm as error:
        raise fault("/semester_id", UNKNOWN, 404) from error


def decided(
    data: dict[str, Any], message: str, key: Request, *, granted: bool, replayed: bool
) -> ResponseReturnValue:
    """A decision: an answer if anything was granted, else a problem that says all the same."""
    told = headers(key, replayed=replayed)
    if granted:
        return said(data, message), 200, told
    words = Words(_("Refused: nothing was changed"), message, kind("refused"))
    return problem(409, words, told, data=data)
