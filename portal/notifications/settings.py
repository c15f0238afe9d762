"""What one wants to hear of by mail."""

from flask import Blueprint, flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert

from portal.access import signed_in, visitor
from portal.core.db import transaction
from portal.core.i18n import _
from portal.notifications.inbox import term_of_visitor
from portal.notifications.kinds import KINDS, Kind
from portal.notifications.models import NoticeSetting
from portal.people.models import Account

bp = Blueprint("inbox_settings", __name__, url_prefix="/inbox/settings")


@bp.get("")
@signed_in
def form() -> ResponseReturnValue:
    """Each kind of news, and whether it comes by mail as well."""
    account = visitor().id
    with transaction() as session:
        address = session.scalar(select(Account.email).where(Account.id == account))
        unwanted = session.scalars(
            select(NoticeSetting.kind).where(
                NoticeSetting.account_id == account, NoticeSetting.by_mail.is_(False)
            )
        ).all()
    return render_template(
        "notices/settings.html",
        kinds=_kinds(),
        wanted=KINDS.keys() - set(unwanted),
        address=address,
        term=term_of_visitor(),
    )


@bp.post("")
@signed_in
def save() -> ResponseReturnValue:
    """Keep what is wished for."""
    wanted = set(request.form.getlist("by_mail"))
    rows = [
        {"account_id": visitor().id, "kind": kind.name, "by_mail": kind.name in wanted}
        for kind in _kinds()
    ]
    with transaction() as session:
        setting = insert(NoticeSetting).values(rows)
        session.execute(
            setting.on_conflict_do_update(
                index_elements=["account_id", "kind"], set_={"by_mail": setting.excluded.by_mail}
            )
        )
    flash(_("Your choice is saved."))
    return redirect(url_for("inbox_settings.form", term=request.args.get("term")), 303)


def _kinds() -> list[Kind]:
    """Those that the visitor may get; all of them for who has no part in anything yet."""
    roles = visitor().roles
    return [kind for kind in KINDS.values() if kind.role in roles or not roles]
