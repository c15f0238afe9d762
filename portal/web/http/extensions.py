"""The Flask extensions of the portal; `start` binds them to an app."""

from typing import Any

from flask import Flask
from flask_limiter import Limiter
from flask_login import LoginManager, current_user
from flask_sock import Sock
from flask_wtf.csrf import CSRFError, CSRFProtect
from htmx_flask import Htmx

from portal.backend import backend
from portal.core import redis_clients


def _account() -> str:
    return str(current_user.actor)


class FormTokens(CSRFProtect):  # type: ignore[misc]
    """The form token check of Flask-WTF; a malformed Referer counts as foreign."""

    def protect(self, *args: Any, **how: Any) -> None:
        """Check the token, and over https the Referer. Raise CSRFError."""
        try:
            super().protect(*args, **how)
        except ValueError as error:
            raise CSRFError("The referrer is no address.") from error


csrf = FormTokens()
htmx = Htmx()
# For single views that are rarely requested and check their own limit.
# portal/web/http/request_limits.py counts what every request costs.
limiter = Limiter(key_func=_account, strategy="moving-window", in_memory_fallback_enabled=True)
logins = LoginManager()
logins.session_protection = None  # it marks sessions as stale, which the portal never reads
sock = Sock()


def start(app: Flask) -> None:
    """Bind every extension to `app`."""
    redis = redis_clients.commands(backend().settings.queue_url, timeout=1.0, size=8)
    app.config["RATELIMIT_STORAGE_URI"] = "redis://"
    app.config["RATELIMIT_STORAGE_OPTIONS"] = {"connection_pool": redis.connection_pool}
    app.extensions["limiter"] = {limiter}  # so that it ignores requests to other views
    for extension in (csrf, htmx, sock):
        extension.init_app(app)
    # Templates use `visitor` (layout.py), which renders even while PostgreSQL is unavailable.
    logins.init_app(app, add_context_processor=False)
