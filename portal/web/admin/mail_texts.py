"""The texts of mails: a list, and for each kind and language a page to write, see and try it."""

from flask import Blueprint, render_template, request, url_for
from flask.typing import ResponseReturnValue

from portal.backend import backend
from portal.core.db import ChangedMeanwhile, transaction
from portal.core.i18n import LANGUAGES, _, _l, in_language
from portal.notifications import mail, mail_texts
from portal.notifications.mail_texts import LONGEST_BODY, LONGEST_SUBJECT, Wording
from portal.people.roles import Right
from portal.web.confirm import Confirmation, confirm, done, seen_number
from portal.web.forms import Form, NoteField, ReasonField, TextField, render_form
from portal.web.http.access import requires, visitor

bp = Blueprint("mail_texts", __name__, url_prefix="/mail-texts")

KINDS = sorted(mail_texts.all_kinds())
ONE = f"/<any({','.join(KINDS)}):mail_kind>/<any({','.join(LANGUAGES)}):mail_language>"


class MailTextForm(Form):
    subject = TextField(_l("Subject"), longest=LONGEST_SUBJECT, missing=_l("Enter a subject."))
    body = NoteField(
        _l("Text"),
        required=True,
        longest=LONGEST_BODY,
        missing=_l("Enter a text."),
        render_kw={"rows": 16},
    )
    reason = ReasonField(_l("Reason (needed to save)"), required=False)


@bp.get("")
@requires(Right.SEE_MAIL_TEXTS)
def index() -> ResponseReturnValue:
    """Render every kind with its languages, and whether its text was changed."""
    with transaction() as session:
        return render_template(
            "admin/mail_texts.html",
            kinds=mail_texts.labels(),
            languages=LANGUAGES,
            stored=mail_texts.all_latest(session),
        )


@bp.get(ONE)
@requires(Right.SEE_MAIL_TEXTS)
def show(mail_kind: str, mail_language: str) -> ResponseReturnValue:
    """Render the text as it is now, with a preview."""
    wording, version = _current(mail_kind, mail_language)
    form = MailTextForm(formdata=None, subject=wording.subject, body=wording.body.strip())
    return _page(mail_kind, mail_language, form, version)


@bp.post(ONE)
@requires(Right.CHANGE_MAIL_TEXTS)
def change(mail_kind: str, mail_language: str) -> ResponseReturnValue:
    """Show a preview, send a test to oneself, or store the text, by the button."""
    form, version, button = MailTextForm(), seen_number(), request.form.get("do", "")
    form.validate()
    wording = Wording(form.subject.data, f"{form.body.data}\n")
    for field, error in mail_texts.errors(mail_kind, wording).items():
        form.refuse(error, field)
    if button == "save" and not form.errors and not form.reason.data:
        form.refuse(_("Enter a reason."), "reason")
    if button == "test" and not form.errors:
        return _test(mail_kind, mail_language, form, version, wording)
    if button != "save" or form.errors:
        return _page(mail_kind, mail_language, form, version)
    stored = None if wording == _standard(mail_kind, mail_language) else wording
    by, reason = visitor().id, form.reason.data
    try:
        mail_texts.change(mail_kind, mail_language, stored, version, by=by, reason=reason)
    except ChangedMeanwhile:
        theirs, version = _current(mail_kind, mail_language)
        form.refuse(
            _("Someone else has changed this text. Theirs is below. Save again to use yours.")
        )
        return _page(mail_kind, mail_language, form, version, theirs=theirs)
    return done(
        _("Text saved. Emails already in the queue keep their old text."), url_for(".index")
    )


@bp.route(f"{ONE}/standard", methods=["GET", "POST"])
@requires(Right.CHANGE_MAIL_TEXTS)
def reset(mail_kind: str, mail_language: str) -> ResponseReturnValue:
    """Go back to the standard text."""
    with transaction() as session:
        stored = mail_texts.latest(session, mail_kind, mail_language)
    page = Confirmation(
        title=_("Go back to the standard text"),
        button=_("Use the standard text"),
        back=(url_for(".show", mail_kind=mail_kind, mail_language=mail_language), _("Text")),
        facts=[
            (_("Email"), mail_texts.labels()[mail_kind]),
            (_("Language"), LANGUAGES[mail_language]),
        ],
        meaning=[_("New emails get the standard text. The audit trail keeps yours.")],
        seen={"version": stored.id if stored else 0},
    )

    def act(reason: str) -> ResponseReturnValue:
        version = seen_number()
        mail_texts.change(mail_kind, mail_language, None, version, by=visitor().id, reason=reason)
        return done(_("The standard text is back."), url_for(".index"))

    return confirm(page, act)


def _test(
    kind: str, language: str, form: MailTextForm, version: int, wording: Wording
) -> ResponseReturnValue:
    if address := mail.send_test(visitor().id, kind, language, wording):
        sent_to = _("A test was sent to %(address)s. Nothing is saved yet.", address=address)
        return _page(kind, language, form, version, sent_to=sent_to)
    form.refuse(_("Your account has no email address."))
    return _page(kind, language, form, version)


def _current(kind: str, language: str) -> tuple[Wording, int]:
    """Return the text that new mail gets, and its version."""
    with transaction() as session:
        stored = mail_texts.latest(session, kind, language)
    if stored and stored.body is not None:
        return Wording(stored.subject or "", stored.body), stored.id
    return _standard(kind, language), stored.id if stored else 0


def _standard(kind: str, language: str) -> Wording:
    with in_language(language):
        return mail_texts.standard(kind)


def _page(  # noqa: PLR0913  what the page shows
    kind: str,
    language: str,
    form: MailTextForm,
    version: int,
    *,
    sent_to: str = "",
    theirs: Wording | None = None,
) -> ResponseReturnValue:
    preview = None
    if not form.errors:
        person = {"name": "Ada Lovelace", "institution": backend().settings.institution}
        with in_language(language):
            values = person | mail_texts.example(kind)
            preview = mail_texts.written(Wording(form.subject.data, form.body.data), values)
    return render_form(
        "admin/mail_text.html",
        form,
        status=409 if theirs else 0,
        kind=kind,
        label=mail_texts.labels()[kind],
        language_code=language,
        language_name=LANGUAGES[language],
        placeholders=mail_texts.placeholders(kind),
        version=version,
        preview=preview,
        sent_to=sent_to,
        theirs=theirs,
    )
