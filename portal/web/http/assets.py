"""Static files: compressed copies, and addresses that change with the content."""

from functools import lru_cache
from hashlib import sha256
from pathlib import Path

from cachetools import TTLCache, cached
from flask import Flask, Response, request, send_from_directory
from flask.sessions import SecureCookieSessionInterface, SessionMixin
from werkzeug.security import safe_join

from portal.core.settings import ROOT

STATIC = ROOT / "static"
MADE = ("build", "vendor")  # folders of STATIC that the set-up makes
COMPRESSED = {"br": ".br", "gzip": ".gz"}  # content coding -> suffix of the compressed copy
FOREVER = "public, max-age=31536000, immutable"


class PageSessions(SecureCookieSessionInterface):
    """Sessions that add no header to static files, which shared caches may give to everyone."""

    digest_method = staticmethod(sha256)

    def save_session(self, app: Flask, session: SessionMixin, response: Response) -> None:
        """Send the session with the response, unless it is a static file."""
        if request.endpoint != "static":
            super().save_session(app, session, response)


def start(app: Flask) -> None:
    """Provide `static_url` to templates, and let browsers cache static files for good.

    Raise RuntimeError if the set-up has not built the styles and scripts.
    """
    for folder in MADE:
        if not (STATIC / folder).is_dir():
            raise RuntimeError(f"{STATIC / folder} is missing. Build it: make assets")
    app.session_interface = PageSessions()
    app.view_functions["static"] = _send
    app.jinja_env.globals["static_url"] = static_url
    app.after_request(_keep)


def static_url(filename: str) -> str:
    """Return the address of a file in `static/`, with the hash of its content."""
    return f"/static/{filename}?v={_version(filename)}"


def _send(filename: str) -> Response:
    for coding, suffix in COMPRESSED.items():
        copy = safe_join(str(STATIC), filename + suffix)
        if request.accept_encodings[coding] > 0 and copy and Path(copy).is_file():
            name = Path(filename).name  # decides the content type
            response = send_from_directory(STATIC, filename + suffix, download_name=name)
            response.headers["Content-Encoding"] = coding
            return response
    return send_from_directory(STATIC, filename)


def _keep(response: Response) -> Response:
    if request.endpoint == "static" and response.status_code in {200, 304}:
        # During a rolling update a page may name another version: browsers must not cache ours for
        # it.
        same = request.args.get("v") == _version((request.view_args or {})["filename"])
        response.headers["Cache-Control"] = FOREVER if same else "no-cache"
    return response


@cached(TTLCache(maxsize=100, ttl=1))  # a page names several files
def _version(filename: str) -> str:
    path = STATIC / filename
    return _hash_of(path, path.stat().st_mtime_ns)


@lru_cache(maxsize=100)
def _hash_of(path: Path, _stamp: int) -> str:
    return sha256(path.read_bytes()).hexdigest()[:12]
