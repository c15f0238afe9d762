"""The Flask extensions of the portal; `start` binds them to an app."""

from flask import Flask
from flask_limiter import Limiter
from flask_limiter.util import get_remote_address
from flask_login import LoginManager
from flask_sock import Sock
from flask_wtf import CSRFProtect
from htmx_flask import Htmx
from redis import Redis

csrf = CSRFProtect()
htmx = Htmx()
limiter = Limiter(key_func=get_remote_address, in_memory_fallback_enabled=True)
logins = LoginManager()
sock = Sock()


def start(app: Flask, redis: Redis) -> None:
    """Bind every extension to `app`; limits are counted in `redis`, for all nodes together."""
    app.config["RATELIMIT_STORAGE_URI"] = "redis://"
    app.config["RATELIMIT_STORAGE_OPTIONS"] = {"connection_pool": redis.connection_pool}
    for extension in (csrf, htmx, limiter, sock):
        extension.init_app(app)
    # Templates have `visitor` (portal/layout), which can be drawn while PostgreSQL is away.
    logins.init_app(app, add_context_processor=False)
