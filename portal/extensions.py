"""The Flask extensions of the portal; `start` binds them to an app."""

from flask import Flask
from flask_login import LoginManager
from flask_sock import Sock
from flask_wtf import CSRFProtect
from htmx_flask import Htmx

csrf = CSRFProtect()
htmx = Htmx()
logins = LoginManager()
sock = Sock()


def start(app: Flask) -> None:
    """Bind every extension to `app`."""
    for extension in (csrf, htmx, sock):
        extension.init_app(app)
    # Templates have `visitor` (portal/layout), which can be drawn while PostgreSQL is away.
    logins.init_app(app, add_context_processor=False)
