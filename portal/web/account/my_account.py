"""My account: name and roles, password, sessions, privacy."""

from flask import (
    Blueprint,
    abort,
    flash,
    make_response,
    redirect,
    render_template,
    request,
    session,
    url_for,
)
from flask.typing import ResponseReturnValue
from wtforms import BooleanField, PasswordField, ValidationError

from portal.backend import backend
from portal.core.db import transaction
from portal.core.i18n import _, _l, _n
from portal.people import (
    accounts,
    passwords,
    privacy,
    staff,
    student_profile,
    student_records,
    tokens,
    visitors,
)
from portal.people.models import Account, Student
from portal.people.passwords import LONGEST, SHORTEST
from portal.people.roles import Right
from portal.web.account import access_tokens, devices
from portal.web.forms import Form
from portal.web.http import sessions
from portal.web.http.access import requires, signed_in, visitor
from portal.web.http.extensions import limiter
from portal.web.http.languages import new_session

bp = Blueprint("account", __name__, url_prefix="/account")
bp.register_blueprint(access_tokens.bp)


class PasswordForm(Form):
    current = PasswordField(_l("Current password"))
    fresh = PasswordField(_l("New password"))
    tokens = BooleanField(_l("Also revoke my access tokens"))

    def __init__(self, account: Account) -> None:
        super().__init__()
        self.account = account

    def validate_current(self, field: PasswordField) -> None:
        """Raise ValidationError if it is not the password."""
        if not accounts.is_password(self.account.id, (field.data or "")[:LONGEST]):
            raise ValidationError(_("Wrong password. Try again."))

    def validate_fresh(self, field: PasswordField) -> None:
        """Raise ValidationError if the new password is weak, or the old one."""
        account, fresh = self.account, field.data or ""
        about = (account.username, account.name, account.email, backend().settings.institution)
        if wrong := passwords.weakness(fresh, about):
            raise ValidationError(wrong)
        if fresh == self.current.data:
            raise ValidationError(_("This is already your password. Choose a different one."))


@bp.get("")
@signed_in
def show() -> ResponseReturnValue:
    """Render the visitor's account and its ways to log in."""
    who, settings = visitor(), backend().settings
    with transaction() as db:
        account = db.get_one(Account, who.id)
        student = db.get(Student, who.student_id) if who.student_id else None
        completed = student_records.completed_courses(db, student.id) if student else []
    return render_template(
        "account/overview.html",
        account=account,
        student=student,
        completed=completed,
        profile=student_profile.read(who.student_id) if who.student_id else None,
        allowed=[right.text for right in Right if who.is_staff and who.may(right)],
        roles=staff.role_labels(account),
        tokens=len(tokens.live_tokens(who.id)),
        password=settings.passwords and bool(account.password_hash),
        provider=settings.oidc and settings.oidc.name,
    )


@bp.post("/sessions/end")
@signed_in
def end_sessions() -> ResponseReturnValue:
    """Log out everywhere, here too."""
    accounts.end_sessions(visitor().id)
    new_session()
    flash(_("You are logged out everywhere."), "message")
    return redirect(url_for("login.form"), 303)


@bp.post("/privacy")
@requires(Right.REGISTER)
def change_privacy() -> ResponseReturnValue:
    """Request privacy, or end it."""
    wanted = request.form.get("private")
    if wanted not in {"yes", "no"}:
        abort(400)
    who = visitor()
    privacy.set_private(who.student_id or 0, who.id, private=wanted == "yes")
    if wanted == "yes":
        flash(_("Instructors now see only your name and number."))
    else:
        flash(_("Instructors see your details again."))
    return redirect(url_for("account.show"), 303)


@bp.get("/password")
@signed_in
def password_form() -> ResponseReturnValue:
    return _password_page(PasswordForm(_own())), 200


@bp.post("/password")
@signed_in
@limiter.limit("20/hour")
def change_password() -> ResponseReturnValue:
    """Change the password, and end the account's other sessions."""
    account = _own()
    form = PasswordForm(account)
    if not form.validate():
        return _password_page(form), 422
    accounts.change_password(account.id, form.fresh.data)
    revoked = tokens.revoke(account.id) if form.tokens.data else []
    shared = not session.permanent
    who = visitors.find(account.id) or abort(401)
    sessions.begin(who, shared=shared)
    flash(_("Password changed. You are logged out on all other devices."), "message")
    if count := len(revoked):
        text = _n("%(num)s access token revoked.", "%(num)s access tokens revoked.", count)
        flash(text, "message")
    answer = make_response(redirect(url_for("account.show"), 303))
    if not shared:
        devices.remember(answer, account.username, who.epoch)
    return answer


def _own() -> Account:
    """Return the visitor's account; 404 if it has no password to change."""
    with transaction() as db:
        account = db.get_one(Account, visitor().id)
    if not (backend().settings.passwords and account.password_hash):
        abort(404)
    return account


def _password_page(form: PasswordForm) -> str:
    return render_template("account/password.html", form=form, least=SHORTEST, most=LONGEST)
