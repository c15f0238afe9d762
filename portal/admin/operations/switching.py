"""GET and POST /admin/operations/flags/<name>: a part switched on or off in all processes."""

from flask import Blueprint, abort, request
from flask.typing import ResponseReturnValue

from portal.admin.operations import asking
from portal.admin.operations.asking import Question
from portal.admin.operations.fuses import parts_in_use
from portal.admin.operations.words import MEANINGS
from portal.admin.reasons import read_reason
from portal.admin.times import Reading
from portal.core import flags
from portal.core.db import transaction
from portal.core.flags import Flag, Switched, Switching
from portal.core.i18n import _, _l
from portal.ops.names import PARTS
from portal.people.models import AuditEntry
from portal.web.http.access import requires, visitor

STAYS = _l("It acts in all processes within two seconds, and stays so until it is switched again.")

bp = Blueprint("flags", __name__, url_prefix=f"/flags/<any({','.join(flags.NAMES)}):name>")


@bp.get("")
@requires("admin")
def ask(name: str) -> ResponseReturnValue:
    """What switching it will mean."""
    return asking.ask(_question(_flag(name)), Reading())


@bp.post("")
@requires("admin")
def switch(name: str) -> ResponseReturnValue:
    """Switch it, unless somebody else has just done so."""
    flag, reading = _flag(name), Reading()
    reason = read_reason(reading, request.form)
    if reading.errors:
        return asking.ask(_question(flag), reading, 422)
    wanted = Switching(name, request.form.get("to") == "on", _version(), reason)
    try:
        _switch(wanted)
    except Switched:
        if _is_mine(wanted):  # the same press once more
            return _done(wanted)
        reading.wrong(
            "", _("Somebody else has switched it since you opened this. Look at it again.")
        )
        return asking.ask(_question(_flag(name)), reading, 409)
    return _done(wanted)


def _done(wanted: Switching) -> ResponseReturnValue:
    flags.read()
    name = PARTS[wanted.name]
    on = _("%(name)s: switched on, in all processes within two seconds.", name=name)
    off = _("%(name)s: switched off, in all processes within two seconds.", name=name)
    return asking.done(on if wanted.on else off)


def _is_mine(wanted: Switching) -> bool:
    """Whether it is as it was to be, by the same admin and from the same version."""
    flag = _flag(wanted.name)
    mine = flag.account_id == visitor().id and flag.version == wanted.version + 1
    return mine and flag.is_on == wanted.on


def _flag(name: str) -> Flag:
    if name not in parts_in_use():
        abort(404)
    with transaction() as session:
        return session.get(Flag, name) or Flag(name=name, is_on=True, version=0)


def _switch(wanted: Switching) -> None:
    by = visitor().id
    with transaction() as session:
        flags.switch(session, wanted, by)
        session.add(
            AuditEntry(
                account_id=by,
                action="flag.switched",
                subject=f"flag:{wanted.name}",
                before={"on": not wanted.on},
                after={"on": wanted.on},
                reason=wanted.reason,
            )
        )


def _question(flag: Flag) -> Question:
    label = PARTS[flag.name]
    off, on = _("Switch off: %(name)s", name=label), _("Switch on: %(name)s", name=label)
    return Question(
        title=off if flag.is_on else on,
        facts=[(_("Now"), _("on") if flag.is_on else _("off"))],
        meaning=f"{MEANINGS[flag.name]} {STAYS}",
        button=_("Switch it off") if flag.is_on else _("Switch it on"),
        danger=flag.is_on,
        kept={"to": "off" if flag.is_on else "on", "version": flag.version},
    )


def _version() -> int:
    try:
        return int(request.form["version"])
    except ValueError:
        abort(400)
