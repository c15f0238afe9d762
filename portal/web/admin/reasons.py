"""The reasons that admins give for their changes."""

from werkzeug.datastructures import MultiDict

from portal.core.i18n import _
from portal.web.admin.form_reading import Reading

LONGEST = 500


def read_reason(reading: Reading, form: MultiDict[str, str], *, needed: bool = True) -> str:
    """Return the reason in a form, as the audit trail stores it."""
    reason = read_note(reading, form, "reason")
    if needed and not reason:
        reading.wrong("reason", _("Say why: the audit trail keeps it with your name."))
    return reason


def read_note(reading: Reading, form: MultiDict[str, str], name: str = "note") -> str:
    """Return an optional text."""
    text = "\n".join(" ".join(line.split()) for line in form.get(name, "").splitlines())
    text = text.replace("\0", "").strip()
    if len(text) > LONGEST:
        reading.wrong(name, _("Use %(most)s characters at most.", most=LONGEST))
    return text
