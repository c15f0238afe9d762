"""The web application: `create_app` connects its parts."""

from datetime import timedelta
from importlib import import_module

from flask import Flask
from werkzeug.middleware.proxy_fix import ProxyFix
from werkzeug.routing import IntegerConverter

from portal import backend, subscribers
from portal.core import traces
from portal.core.settings import ROOT, Settings
from portal.web import api
from portal.web.blueprints import BLUEPRINTS
from portal.web.http import (
    access,
    admission,
    assets,
    authentication,
    compression,
    correlation,
    errors,
    extensions,
    hosts,
    languages,
    layout,
    request_limits,
    request_log,
    request_metrics,
    security_headers,
    uploads,
)
from portal.web.http.slow_clients import Deadlines


class Id(IntegerConverter):
    """Read `<int:…>` in addresses: at most 18 ASCII digits, as PostgreSQL and the ledger hold."""

    regex = r"[0-9]{1,18}"


def create_app(settings: Settings | None = None) -> Flask:
    """Return the web application, connected to its database and its ledger."""
    settings = settings or Settings.read()
    app = Flask("portal", root_path=str(ROOT))
    app.config.from_mapping(_config(settings))
    app.url_map.converters["int"] = Id
    traces.begin("web")
    if traces.enabled():
        import_module("portal.web.http.request_spans").start(app)
    request_metrics.start(app)  # first, so that it has seen whatever answers
    compression.start(app)  # before all who write headers: it compresses what they have finished
    layout.start(app)
    hosts.start(app)
    admission.check_tokens(app)  # before anything that uses Redis or PostgreSQL
    uploads.start(app)  # before the CSRF check reads the body of a form
    backend.connect(settings)
    subscribers.connect()
    extensions.start(app)
    authentication.start()
    for part in (
        correlation,
        security_headers,
        assets,
        access,
        languages,
        errors,
        request_log,
    ):
        part.start(app)
    admission.start(app)
    request_limits.start(app)
    extensions.limiter.init_app(app)
    for blueprint in BLUEPRINTS:
        app.register_blueprint(blueprint)
    api.start(app)
    layout.share_macros(app)
    app.wsgi_app = Deadlines(app.wsgi_app)  # type: ignore[method-assign]
    if settings.proxies:
        hops = settings.proxies
        app.wsgi_app = ProxyFix(app.wsgi_app, x_for=hops, x_proto=hops, x_host=hops)  # type: ignore[method-assign]
    return app


def _config(settings: Settings) -> dict[str, object]:
    return {
        "SETTINGS": settings,
        "GATE": settings.gate,
        "SECRET_KEY": settings.secret_key,
        "SECRET_KEY_FALLBACKS": list(settings.secret_key_fallbacks),
        "WTF_CSRF_SECRET_KEY": settings.signing_keys,  # Flask-WTF reads no fallbacks
        "SESSION_COOKIE_NAME": "__Host-fairseat" if settings.secure_cookies else "fairseat",
        "SESSION_COOKIE_HTTPONLY": True,
        "SESSION_COOKIE_SAMESITE": "Lax",
        "SESSION_COOKIE_SECURE": settings.secure_cookies,
        "SESSION_REFRESH_EACH_REQUEST": False,
        "PERMANENT_SESSION_LIFETIME": timedelta(hours=12),
        "MAX_CONTENT_LENGTH": 256 * 1024,
        "MAX_FORM_MEMORY_SIZE": 256 * 1024,
        "MAX_FORM_PARTS": 1000,
        "WTF_I18N_ENABLED": False,  # our forms translate their own messages
        "WTF_CSRF_TIME_LIMIT": None,  # as long as the session: a lobby may be open for hours
        "SOCK_SERVER_OPTIONS": {"max_message_size": 4096},
    }
