"""Sign-up of visiting students by links in mail, and what recovery of passwords shares with it."""

from math import ceil

from flask import Blueprint, abort, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from flask_login import current_user
from wtforms import PasswordField, ValidationError

from portal.applications import service
from portal.applications.kinds import KINDS
from portal.backend import backend
from portal.catalog.formatting import day, money
from portal.catalog.term_catalog import offered_terms
from portal.core.db import transaction
from portal.core.i18n import _, _l, current_locale
from portal.notifications import mail
from portal.people import accounts, mail_links, passwords, visitors
from portal.people.accounts import LONGEST_ADDRESS, MAX_LENGTHS, AccountRefusedError
from portal.people.mail_links import SIGN_UP, InvalidLink
from portal.people.models import Account
from portal.people.passwords import LONGEST, SHORTEST
from portal.protection.rate_limits import Charge, RateLimit, rate_limiter
from portal.web.account.login import spend
from portal.web.forms import Form, TextField
from portal.web.http import sessions
from portal.web.http.access import public
from portal.web.http.admission import captcha_needed
from portal.web.http.request_info import client_address

bp = Blueprint("sign_up", __name__)

OF_ADDRESS = RateLimit("link", at_once=5, a_minute=5 / 60)  # mails to one address
OF_CLIENT = RateLimit("link-from", at_once=20, a_minute=2)  # more only with a captcha
OF_CLIENT_WITHOUT_CAPTCHA = RateLimit("link-from", at_once=60, a_minute=10)


def _address_field(longest: int) -> TextField:
    return TextField(
        _l("Email address"),
        longest=longest,
        missing=_l("Enter your email address."),
        render_kw={"type": "email", "autocomplete": "email", "spellcheck": "false"},
    )


class AddressForm(Form):
    email = _address_field(LONGEST_ADDRESS)

    def validate_email(self, field: TextField) -> None:
        """Raise ValidationError unless mail could be sent there."""
        field.data = field.data.lower()
        if not mail.is_address(field.data):
            raise ValidationError(_("Enter an email address such as name@example.org."))


class NewAddressForm(AddressForm):
    """The email address of a new account, which becomes its username."""

    email = _address_field(MAX_LENGTHS["username"])


class NewPasswordForm(Form):
    """A new password for the account of a link."""

    fresh = PasswordField(_l("New password"))

    def __init__(self, *about: str) -> None:
        super().__init__()
        self.about = about

    def validate_fresh(self, field: PasswordField) -> None:
        """Raise ValidationError if the password is weak."""
        about = (*self.about, backend().settings.institution)
        if wrong := passwords.weakness(field.data or "", about):
            raise ValidationError(wrong)


class NewAccountForm(NewPasswordForm):
    name = TextField(
        _l("Your full name"),
        longest=MAX_LENGTHS["name"],
        missing=_l("Enter your name."),
        render_kw={"autocomplete": "name"},
    )


@bp.before_request
def _only_if_open() -> None:
    settings = backend().settings
    if not (settings.visiting and settings.passwords):
        abort(404)


@bp.get("/visiting")
@public
def about() -> ResponseReturnValue:
    """Render what a visiting student does, and the terms that take applications."""
    kind = KINDS["visiting"]
    terms = [each for each in offered_terms() if not service.is_late(kind, each.id)]
    settings = backend().settings
    return render_template(
        "account/visiting.html",
        kind=kind,
        terms=[(each, day(service.last_day(kind, each.id), year=True)) for each in terms],
        fee=money(kind.fee, settings.currency) if settings.payments else "",
    )


@bp.route("/sign-up", methods=["GET", "POST"])
@public
def begin() -> ResponseReturnValue:
    """Ask for an address, or mail a link to it."""
    return ask_for_address(SIGN_UP)


@bp.route("/sign-up/<link>", methods=["GET", "POST"])
@public
def finish(link: str) -> ResponseReturnValue:
    """Create the account of a link, and log in."""
    try:
        address = mail_links.address_of(link)
    except InvalidLink:
        return invalid("sign_up.begin")
    with transaction() as session:
        taken = accounts.username_taken(session, address)
    if taken:
        return invalid("login.form", used=True)
    form = NewAccountForm(address, request.form.get("name", ""))
    if request.method != "POST" or not form.validate():
        page = password_page(form, address, _("Create your account"), _("Create my account"))
        return page, 422 if form.errors else 200
    try:
        account = accounts.sign_up(address, form.name.data, form.fresh.data)
    except AccountRefusedError:  # the form was sent twice
        return invalid("login.form", used=True)
    return enter(account, url_for("home.index"))


def ask_for_address(about: str) -> ResponseReturnValue:
    """Ask for an address, or mail a link to it; the answer does not tell whether it is known."""
    form, sent = NewAddressForm() if about == SIGN_UP else AddressForm(), ""
    if request.method == "POST" and form.validate():
        wait, asks = _charge(form.email.data)
        if wait:
            if asks:
                form.refuse(_("Many emails were requested from your network."))
                form.refuse(_("We check your browser first. Then send it again."))
            elif rate_limiter().check(Charge(OF_ADDRESS, form.email.data)):
                form.refuse(_("Too many emails to this address. Try again in an hour."), "email")
            else:
                form.refuse(_("Too many emails from your network. Try again in a few minutes."))
            shown = {"form": form, "about": about, "sent": "", "asks": asks}
            page = render_template("account/address.html", **shown)
            return page, 429, {"Retry-After": str(wait)}
        mail.send_link(form.email.data, about, str(current_locale()))
        sent = form.email.data
    provider = bool(backend().settings.oidc)
    shown = {"form": form, "about": about, "sent": sent, "provider": provider}
    page = render_template("account/address.html", **shown)
    return page, 422 if form.errors else 200


def _charge(address: str) -> tuple[int, bool]:
    """Charge a mail to its limits.

    Returns the seconds to wait if one is used up, and whether a captcha would do instead.
    """
    network = OF_CLIENT if captcha_needed() else OF_CLIENT_WITHOUT_CAPTCHA
    to_address, from_client = Charge(OF_ADDRESS, address), Charge(network, client_address())
    limiter = rate_limiter()
    wait = ceil(limiter.reserve(to_address, from_client) / 1000)
    if not wait or limiter.check(to_address) or not captcha_needed():
        return wait, False
    if spend():
        return ceil(limiter.reserve(to_address) / 1000), False
    return wait, True


def enter(account: int, address: str) -> ResponseReturnValue:
    """Begin a session of the account, and go to a page."""
    visitor = visitors.read(Account.id == account) or abort(401)
    sessions.begin(visitor)
    return redirect(address, 303)


def invalid(again: str, *, used: bool = False) -> ResponseReturnValue:
    """Render that a link does not work, and where to get another one."""
    signed_in = bool(current_user.is_authenticated)
    page = render_template(
        "account/link_invalid.html", again=url_for(again), used=used, signed_in=signed_in
    )
    return page, 410


def password_page(form: Form, address: str, title: str, button: str) -> str:
    """Render the form for the new password of the username `address`."""
    return render_template(
        "account/new_password.html",
        form=form,
        address=address,
        title=title,
        button=button,
        least=SHORTEST,
        most=LONGEST,
    )
