"""Access rules: every view states the right that it demands; a view without a rule is closed."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

from flask import (
    Flask,
    abort,
    current_app,
    g,
    make_response,
    redirect,
    request,
    session,
    url_for,
)
from flask.typing import ResponseReturnValue
from flask_login import current_user
from flask_wtf.csrf import CSRFError

from portal.core.i18n import _, _l
from portal.people.roles import OWN, ROLES, Right, rights_of
from portal.people.visitors import Visitor
from portal.web.http import resuming, viewing
from portal.web.http.errors import Message, answer, problem
from portal.web.http.request_info import READS, same_origin

PUBLIC = "public"
SIGNED_IN = "signed in"
# Pages for admins at addresses of students: who lacks the right of the view may have this one.
INSTEAD = {
    "student.term": "admin.sections.index",
    "receipts.show": "admin.receipts.show",
}
EXPIRED = Message(
    _l("This form has expired"),
    _l("Nothing was changed. Go back, reload the page and try again."),
)
AGAIN = Message(EXPIRED.title, _l("Nothing was changed. Send it again."))
ENDED = Message(
    _l("You are no longer logged in"),
    _l("Nothing was changed. Log in in a new tab, then come back and send it again."),
)

ELSEWHERE = Message(
    _l("This section is not of your departments"),
    _l("You schedule sections of other departments. Ask the registrar’s office."),
)

View = TypeVar("View", bound=Callable[..., Any])


def public(view: View) -> View:
    """Open a view to everyone."""
    return _mark(view, PUBLIC)


def signed_in(view: View) -> View:
    """Open a view to everyone who has logged in."""
    return _mark(view, SIGNED_IN)


def requires(*rights: Right) -> Callable[[View], View]:
    """Open a view to users with one of the rights."""
    return lambda view: _mark(view, *rights)


def needs_scope(scope: str) -> Callable[[View], View]:
    """Require this token scope for every method: a GET may also grant the right to register."""

    def decorate(view: View) -> View:
        view.scope = scope  # type: ignore[attr-defined]
        return view

    return decorate


def rule_of(view: Callable[..., Any]) -> frozenset[str]:
    """Return the rule that a view states; empty if it states none."""
    return cast("frozenset[str]", getattr(view, "access", frozenset()))


def opens(view: Callable[..., Any], who: Visitor) -> bool:
    """Return whether somebody who has logged in may open the view."""
    rule = rule_of(view)
    return bool(rule & {PUBLIC, SIGNED_IN}) or bool(rule & rights_of(who.roles))


def may(*rights: str) -> bool:
    """Return whether the visitor has one of the rights, for templates."""
    who = visitor()
    return who.is_authenticated and who.may(*rights)


def demand(right: Right, department: int) -> None:
    """Refuse the request unless the visitor has the right for sections of that department."""
    if not visitor().may_in(right, department):
        abort(make_response(answer(403, ELSEWHERE)))


def visitor() -> Visitor:
    """Return the visitor, in a view that is not public."""
    return cast("Visitor", current_user._get_current_object())  # noqa: SLF001 - its only door


def start(app: Flask) -> None:
    """Check the view's rule before every request."""
    app.before_request(_guard)
    app.register_error_handler(CSRFError, _without_token)
    app.jinja_env.globals["may"] = may
    app.jinja_env.globals["may_in"] = lambda right, department: visitor().may_in(right, department)
    public(app.view_functions["static"])


def _mark(view: View, *rule: str) -> View:
    view.access = frozenset(rule)  # type: ignore[attr-defined]
    return view


def _guard() -> ResponseReturnValue | None:
    if request.endpoint is None:
        return None  # no such page: everyone gets the 404
    view = current_app.view_functions[request.endpoint]
    public = PUBLIC in rule_of(view)
    if viewing.STUDENT in session and viewing.refused(visitor(), public=public):
        return answer(403, viewing.READ_ONLY)
    if public:
        return None
    who = visitor()
    if not who.is_authenticated:
        return _to_login()
    if not opens(view, who):
        return _instead(request.endpoint)
    return _beyond_scope(view)


def _without_token(error: CSRFError) -> ResponseReturnValue:  # noqa: ARG001
    """Answer a form with an invalid session or from another site: only ours can be sent again."""
    if not _may_be_sent_again():
        return answer(400, EXPIRED)
    rule = rule_of(current_app.view_functions[request.endpoint or "static"])
    ended = not current_user.is_authenticated and PUBLIC not in rule
    if ended and resuming.marked():
        return to_login_and_back()
    return answer(400, ENDED if ended else AGAIN, again=True)


def _may_be_sent_again() -> bool:
    """Return whether one of our pages sent the form, and a page may show all of its fields."""
    return same_origin() and not request.files and bool(resuming.shown_fields())


def _beyond_scope(view: Callable[..., Any]) -> ResponseReturnValue | None:
    """Refuse an access token that lacks the scope; return None if it may go on, as sessions may."""
    usual = "read" if request.method in READS else "register"
    needed = getattr(view, "scope", usual)
    if needed in g.get("scopes", {needed}):
        return None
    advice = _("This requires the scope “%(scope)s”. Create a token with it.", scope=needed)
    challenge = f'Bearer error="insufficient_scope", scope="{needed}"'
    message = Message(_l("This access token doesn’t have permission"), advice)
    return problem(403, message, {"WWW-Authenticate": challenge}, scope=needed)


def _instead(endpoint: str) -> ResponseReturnValue:
    target = INSTEAD.get(endpoint)
    if target is None or not opens(current_app.view_functions[target], visitor()):
        return _refused(rule_of(current_app.view_functions[endpoint]))
    return redirect(url_for(target, **(request.view_args or {})))


def _refused(rule: frozenset[str]) -> ResponseReturnValue:
    """Answer staff which right their role lacks, and everyone else as for any page."""
    lacking, who = next((right for right in Right if right in rule - OWN), None), visitor()
    if lacking is None or not who.is_staff or request.path.startswith("/api/"):
        abort(403)
    roles = ", ".join(str(role.label) for name, role in ROLES.items() if name in who.roles)
    advice = _(
        "Your role (%(roles)s) does not let you %(do)s. Ask the registrar’s office.",
        do=lacking.text,
        roles=roles,
    )
    return answer(403, Message(_l("Your role does not allow this"), advice))


def _to_login() -> ResponseReturnValue:
    if (
        request.path.startswith("/api/")
        or "websocket" in request.headers.get("Upgrade", "").lower()
    ):
        abort(401)
    if request.method != "GET" and not resuming.marked() and _may_be_sent_again():
        return answer(401, ENDED, again=True)
    return to_login_and_back()


def to_login_and_back() -> ResponseReturnValue:
    """Redirect to the login, which leads back to the requested page."""
    if request.headers.get("HX-Request"):
        return resuming.in_place()
    ended = resuming.known() or request.method != "GET"
    return redirect(
        resuming.login(resuming.onward(), ended=ended), 303 if request.method != "GET" else 302
    )
