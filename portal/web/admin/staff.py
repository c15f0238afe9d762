"""Staff: who has which role, and a form to give and end roles below admin."""

from flask import Blueprint, abort, request, url_for
from flask.typing import ResponseReturnValue

from portal.core.db import ChangedMeanwhile
from portal.core.i18n import _, _l
from portal.people import staff
from portal.people.roles import ROLES, STAFF_ROLES, Right
from portal.people.staff import Grant, StaffMember
from portal.web.confirm import CHANGED, done
from portal.web.forms import ChoicesField, Form, ReasonField, TextField, render_form
from portal.web.http.access import requires, visitor
from portal.web.http.layout import go

bp = Blueprint("staff", __name__, url_prefix="/staff")


class FindForm(Form):
    """The user name of an account."""

    account = TextField(
        _l("Username"),
        longest=64,
        missing=_l("Enter a username."),
        render_kw={"spellcheck": "false", "autocapitalize": "none"},
    )


class RolesForm(Form):
    roles = ChoicesField(
        _l("Roles"), choices=lambda: {name: ROLES[name].label for name in STAFF_ROLES}
    )
    departments = ChoicesField(
        _l("Schedules the sections of these departments"),
        choices=lambda: {str(number): name for number, name in staff.departments().items()},
        chips=True,
    )
    reason = ReasonField()

    @property
    def grant(self) -> Grant:
        """Return what the form gives, once it is valid."""
        return Grant(frozenset(self.roles.data), frozenset(map(int, self.departments.data)))


@bp.get("")
@requires(Right.SEE_STAFF)
def index() -> ResponseReturnValue:
    """Render all staff with their roles, what the roles allow, and a search for an account."""
    form = FindForm(request.args if "account" in request.args else None)
    if visitor().may(Right.GIVE_ROLES) and "account" in request.args:
        found = staff.find_by_name(form.account.data) if form.validate() else None
        if found:
            return go(url_for(".change", account_id=found.id))
        if not form.errors:
            name = form.account.data
            form.refuse(_("No account has the username %(name)s.", name=name), "account")
    return render_form(
        "admin/staff.html",
        form,
        people=staff.everyone(),
        roles=ROLES,
        departments=staff.departments(),
        allowed=_allowed(),
    )


@bp.route("/<int:account_id>", methods=["GET", "POST"])
@requires(Right.GIVE_ROLES)
def change(account_id: int) -> ResponseReturnValue:
    """Give an account roles below admin, or end them."""
    member = staff.find(account_id) or abort(404)
    if request.method == "GET":
        held = {
            "roles": list(member.has.roles),
            "departments": [str(each) for each in member.has.departments],
        }
        return _page(member, RolesForm(formdata=None, data=held), member.has)
    form, seen = RolesForm(), _seen()
    if not form.validate():
        return _page(member, form, seen)
    try:
        why = form.reason.data
        staff.change_roles(account_id, seen, form.grant, by=visitor().id, why=why)
    except ChangedMeanwhile:
        form.refuse(CHANGED)
        member = staff.find(account_id) or abort(404)
        return _page(member, form, member.has, 409)
    return done(_("Roles of %(name)s saved.", name=member.name), url_for(".index"))


def _seen() -> Grant:
    """Return what the account had when the form was shown."""
    departments = request.form.getlist("seen_department", type=int)
    return Grant(frozenset(request.form.getlist("seen")), frozenset(departments))


def _page(
    member: StaffMember, form: RolesForm, seen: Grant, status: int = 0
) -> ResponseReturnValue:
    context = {"member": member, "seen": seen, "allowed": _allowed()}
    return render_form("admin/staff_roles.html", form, status=status, **context)


def _allowed() -> list[tuple[str, list[str]]]:
    """Return the label of each role that an admin can give, and what it allows."""
    return [
        (ROLES[name].label, [right.text for right in Right if right in ROLES[name].rights])
        for name in ("scheduler", *STAFF_ROLES)
    ]
