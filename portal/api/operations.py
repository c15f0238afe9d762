"""What an operation takes and gives, for its view and for the document at once."""

from collections.abc import Callable, Iterable
from http import HTTPStatus
from typing import Any, TypeVar, cast

import marshmallow as ma

from portal.api.docs.document import HEADERS, TO_CHANGE, TO_READ, Tag
from portal.api.entry import bp
from portal.api.schemas import answer_of, said

View = TypeVar("View", bound=Callable[..., Any])
ALWAYS = (400, 401, 403, 429, 500, 503)
OF_BODIES = (408, 409, 413, 415, 422)

documented: Any = bp  # which is smorest's, whose decorators have no types


def about(tag: Tag, problems: Iterable[int] = ()) -> Callable[[View], View]:
    """Tell where it belongs, and which problems may come up beside those that always may."""

    def decorate(view: View) -> View:
        told = {"operationId": view.__name__, "security": TO_READ, "tags": [tag]}
        return cast("View", _with({*ALWAYS, *problems}, view, told))

    return decorate


def gives(
    data: type[ma.Schema],
    *,
    example: Any,
    status: tuple[int, ...] = (200,),
    headers: Iterable[str] = (),
    plain: bool = False,
) -> Callable[[View], View]:
    """Answer with such data, which stand alone where they are `plain`."""
    sent = {name: HEADERS[name] for name in headers}
    schema, shown = (data, example) if plain else (answer_of(data), said(example))

    def decorate(view: View) -> View:
        found = documented.response(status[0], schema, example=shown, headers=sent)(view)
        for other in status[1:]:
            found = documented.alt_response(other, schema=schema, headers=sent)(found)
        return cast("View", found)

    return decorate


def takes(body: type[ma.Schema], *, example: Any, required: bool = True) -> Callable[[View], View]:
    """Take such a JSON body, and change something: with all the problems that this can have."""

    def decorate(view: View) -> View:
        found = documented.arguments(body, required=required, example=example)(view)
        return cast("View", _with(OF_BODIES, found, {"security": TO_CHANGE}))

    return decorate


def asks(parameters: type[ma.Schema], where: str = "query") -> Callable[[View], View]:
    """Take such parameters, of the address or of the headers."""

    def decorate(view: View) -> View:
        return cast("View", documented.arguments(parameters, location=where)(view))

    return decorate


def _with(problems: Iterable[int], view: Any, told: dict[str, Any]) -> Any:
    """The view, with problems that may come up and what else the document tells of it."""
    for status in sorted(problems):
        view = documented.alt_response(status, response=HTTPStatus(status).name)(view)
    return documented.doc(**told)(view)
