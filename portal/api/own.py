"""Changes are made by students alone, each to what is their own."""

from collections.abc import Mapping
from typing import Any

from flask import abort
from flask.typing import ResponseReturnValue

from portal.api.keys import Request, headers
from portal.api.kinds import kind
from portal.api.reading import Malformed, fault, wrong
from portal.api.schemas import said
from portal.catalog.term_catalog import NoSuchTerm, TermCatalog, catalog_of, live_terms
from portal.core.i18n import _, _l
from portal.web.http.access import visitor
from portal.web.http.errors import Words, problem

UNKNOWN = _l("There is no such semester.")


def own(student: int) -> int:
    """The student, if that is who asks; else 403, whether there is such a student or not."""
    if student != visitor().student_id:
        abort(403)
    return student


def semester(term: int) -> TermCatalog:
    """What a semester that the body names has to offer; refuses one that there is not."""
    try:
        return catalog_of(term)
    except NoSuchTerm as error:
        raise fault("/semester_id", UNKNOWN, 404) from error


def semester_of(sections: Mapping[str, int]) -> TermCatalog:
    """The one semester of these sections, each by its JSON pointer in the body.

    Refuses a section that no semester has, and sections of several semesters.
    """
    offered = [catalog_of(term.id) for term in live_terms()]
    found: list[TermCatalog] = []
    for pointer, section in sections.items():
        having = next((each for each in offered if each.section(section)), None)
        if having is None:
            raise fault(pointer, _("There is no such section."), 404)
        found.append(having)
    first, names = found[0], [each.term.name for each in found]
    others = [at for at, each in enumerate(found) if each.term.id != first.term.id]
    if others:
        pointers = list(sections)
        raise Malformed([_elsewhere(pointers[at], names[at], names[0]) for at in others])
    return first


def _elsewhere(pointer: str, here: str, first: str) -> dict[str, str]:
    message = _(
        "This section is of %(here)s and the first one of %(first)s."
        " Send a request for each semester.",
        here=here,
        first=first,
    )
    return wrong("body", pointer, message)


def decided(
    data: dict[str, Any], message: str, key: Request, *, granted: bool, replayed: bool
) -> ResponseReturnValue:
    """A decision: an answer if anything was granted, else a problem that says all the same."""
    told = headers(key, replayed=replayed)
    if granted:
        return said(data, message), 200, told
    words = Words(_("Refused: nothing was changed"), message, kind("refused"))
    return problem(409, words, told, data=data)
