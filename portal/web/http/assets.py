"""Addresses of scripts and styles that change with their content, so that browsers cache them."""

from functools import cache
from hashlib import sha256
from pathlib import Path
from threading import Lock

from cachetools import TTLCache, cached
from flask import Blueprint, Flask, Response, request, url_for
from flask.sessions import SecureCookieSessionInterface, SessionMixin

from portal.core.settings import ROOT
from portal.web.http.access import public

STATIC = ROOT / "static"
OURS = {"static", "assets.style", "assets.script"}
FOREVER = "public, max-age=31536000, immutable"
FRESH_SECONDS = 1

bp = Blueprint("assets", __name__)


class PageSessions(SecureCookieSessionInterface):
    """Sessions that add no header to static files, which shared caches may give to everyone."""

    digest_method = staticmethod(sha256)

    def save_session(self, app: Flask, session: SessionMixin, response: Response) -> None:
        """Send the session with the response, unless it is a static file."""
        if request.endpoint not in OURS:
            super().save_session(app, session, response)


def start(app: Flask) -> None:
    """Provide `static_url` and `style_url` to templates, and let browsers cache both for good."""
    app.register_blueprint(bp)
    app.session_interface = PageSessions()
    addresses = {"static_url": static_url, "style_url": style_url, "script_url": script_url}
    app.jinja_env.globals.update(addresses)
    app.after_request(_keep)


def static_url(filename: str) -> str:
    """Return the address of a file in `static/`, with the hash of its content."""
    return url_for("static", filename=filename, v=_known("static", filename))


def style_url() -> str:
    """Return the address of all styles in one file."""
    return url_for("assets.style", v=_known("assets.style"))


def script_url() -> str:
    """Return the address of all our scripts in one file."""
    return url_for("assets.script", v=_known("assets.script"))


@bp.get("/style.css")
@public
def style() -> Response:
    """Return every file of `static/css` in one response, to save new browsers ten requests."""
    return _answer(*_style(_stamps("css")), "text/css")


@bp.get("/script.js")
@public
def script() -> Response:
    """Return every file of `static/js` in one response, each in its own scope."""
    return _answer(*_script(_stamps("js")), "text/javascript")


def _answer(text: bytes, tag: str, mimetype: str) -> Response:
    response = Response(text, mimetype=mimetype)
    response.set_etag(tag)
    response.make_conditional(request)
    return response


def _keep(response: Response) -> Response:
    if request.endpoint in OURS and response.status_code in {200, 304}:
        # During a rolling update a page may name another version: browsers must not cache ours for
        # it.
        ours = _version(request.endpoint, **(request.view_args or {}))
        same = request.args.get("v", "") == ours
        response.headers["Cache-Control"] = FOREVER if same else "no-cache"
    return response


def _version(endpoint: str, filename: str = "") -> str | None:
    """Return the hash of the current content; None if the file does not exist."""
    if endpoint == "assets.style":
        return _style(_stamps("css"))[1]
    if endpoint == "assets.script":
        return _script(_stamps("js"))[1]
    path = STATIC / filename
    return _hash_of(path, path.stat().st_mtime_ns) if path.exists() else None


@cached(TTLCache(maxsize=100, ttl=FRESH_SECONDS), lock=Lock())
def _known(endpoint: str, filename: str = "") -> str | None:
    """Return a cached `_version`, because each page names several files."""
    return _version(endpoint, filename)


def _stamps(kind: str) -> tuple[tuple[Path, int], ...]:
    files = sorted((STATIC / kind).glob(f"*.{kind}"))
    return tuple((path, path.stat().st_mtime_ns) for path in files)


@cache
def _style(files: tuple[tuple[Path, int], ...]) -> tuple[bytes, str]:
    text = b"".join(path.read_bytes() for path, _ in files)
    return text, _short(text)


@cache
def _script(files: tuple[tuple[Path, int], ...]) -> tuple[bytes, str]:
    text = b"".join(b"{\n%s}\n" % path.read_bytes() for path, _ in files)
    return text, _short(text)


@cache
def _hash_of(path: Path, _stamp: int) -> str:
    return _short(path.read_bytes())


def _short(content: bytes) -> str:
    return sha256(content).hexdigest()[:12]
