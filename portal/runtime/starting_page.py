"""Answer every request with 503 and Retry-After while no web server serves at the address.

A separate program that needs only Python, so that it answers within a tenth of a second:

    python -IS starting_page.py DESCRIPTOR_OF_THE_LISTENING_SOCKET FOLDER_OF_THE_TRANSLATIONS
"""

import base64
import gettext
import hashlib
import json
import random
import re
import signal
import socket
import sys
from contextlib import suppress
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from time import monotonic

RETRY_SECONDS = 5
BODY_SECONDS = 2.0
PIECE = 65_536  # bytes
HEALTH = {"/ready", "/live", "/health"}
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
LANGUAGE = re.compile(r"[a-z]{2}", re.IGNORECASE)
STYLE = """
body { max-width: 34rem; margin: 15vh auto 0; padding: 0 1.25rem; font: 1.125rem/1.5 system-ui; }
h1 { font-size: 1.75rem; line-height: 1.2; }
"""
STYLE_HASH = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
POLICY = f"default-src 'none'; style-src 'sha256-{STYLE_HASH}'; frame-ancestors 'none'"
PAGE = """<!doctype html>
<html lang="{language}">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
{again}<title>{title}</title>
<style>{style}</style>
<h1>{title}</h1>
<p>{advice} {reloads}</p>
"""
AGAIN = '<meta http-equiv="refresh" content="{}">\n'
# Like the portal's own toast (templates/macros/ui.html), whose scripts handle it.
TOAST = """<div class="toast" data-tone="stop">
<div><p class="toast-title">{title}</p><p>{advice}</p></div>
<button class="toast-close" type="button" data-close-toast aria-label="{dismiss}">&times;</button>
</div>
"""


class Handler(BaseHTTPRequestHandler):
    """Answers a request with a page, a part of a page, or JSON."""

    server_version, sys_version = "Fairseat", ""
    timeout = 5.0  # seconds to wait for a client's next bytes
    translations = ""  # the folder

    def answer(self) -> None:
        language, translations = self._translations()
        kind, body = self._body(language, _page_texts(translations, reads=self._reads))
        self.send_response(503)
        headers = {
            "Content-Type": kind,
            "Content-Length": str(len(body)),
            "Content-Language": language,
            "Retry-After": str(RETRY_SECONDS),
            "Cache-Control": "no-store",
            "Content-Security-Policy": POLICY,
            "X-Content-Type-Options": "nosniff",
            "Connection": "close",
        }
        if "HX-Request" in self.headers:
            headers |= {"HX-Retarget": "#toasts", "HX-Reswap": "beforeend"}
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(b"" if self.command == "HEAD" else body)
        with suppress(OSError, ValueError):
            self._read_body(int(self.headers.get("Content-Length", 0)))

    def _read_body(self, length: int) -> None:
        """Read what a client sends, for two seconds: unread, it would reset the connection."""
        deadline = monotonic() + BODY_SECONDS
        self.connection.settimeout(BODY_SECONDS)
        while length > 0 and monotonic() < deadline and (piece := self.rfile.read1(PIECE)):
            length -= len(piece)

    def send_error(self, *_: object, **__: object) -> None:
        """Close the connection of a client that does not speak HTTP."""
        self.close_connection = True

    def log_message(self, *_: object) -> None:
        """Log nothing: the portal itself logs requests."""

    @property
    def _reads(self) -> bool:
        return self.command in {"GET", "HEAD"}

    def _translations(self) -> tuple[str, gettext.NullTranslations]:
        """Return the browser's first language and its texts; English if there are none."""
        if found := LANGUAGE.match(self.headers.get("Accept-Language", "")):
            language = found[0].lower()
            with suppress(OSError):
                return language, gettext.translation("messages", self.translations, [language])
        return "en", gettext.NullTranslations()

    def _body(self, language: str, texts: dict[str, str]) -> tuple[str, bytes]:
        """Return the response's content type and body."""
        path = self.path.partition("?")[0]
        if path in HEALTH:
            missing = ["the web server, which is starting"]
            return "application/json", json.dumps({"ready": False, "missing": missing}).encode()
        if path.startswith("/api/"):
            return "application/problem+json", json.dumps(_problem(texts, path)).encode()
        texts = {name: escape(text) for name, text in texts.items()}
        if "HX-Request" in self.headers:
            body = TOAST.format(**texts)
        else:
            # Reload at a random time to spread the load.
            again = AGAIN.format(random.randint(8, 24)) if self._reads else ""  # noqa: S311
            body = PAGE.format(**texts, language=language, again=again, style=STYLE)
        return "text/html; charset=utf-8", body.encode()


for each in METHODS:
    setattr(Handler, f"do_{each}", Handler.answer)


def _page_texts(translations: gettext.NullTranslations, *, reads: bool) -> dict[str, str]:
    _ = translations.gettext
    return {
        "title": _("The site is starting"),
        "advice": _("Your classes and waitlist positions are safe. Try again in a few seconds.")
        if reads
        else _("Nothing was changed. Wait a few seconds, then try again."),
        "reloads": _("This page updates automatically.") if reads else "",
        "dismiss": _("Dismiss"),
    }


def _problem(texts: dict[str, str], path: str) -> dict[str, object]:
    """Return the response as problem details (RFC 9457), as the API does."""
    return {
        "type": "about:blank",
        "title": texts["title"],
        "status": 503,
        "detail": texts["advice"],
        "instance": path,
        "success": False,
        "message": texts["advice"],
    }


def serve(listener: socket.socket) -> None:
    """Answer all connections until a signal, then those accepted by then."""
    listener.settimeout(0)  # a web server may accept a connection first
    server = ThreadingHTTPServer(("", 0), Handler, bind_and_activate=False)
    server.socket.close()
    server.socket, server.daemon_threads = listener, False
    for each in (signal.SIGTERM, signal.SIGINT):
        signal.signal(each, lambda *_: Thread(target=server.shutdown).start())
    server.serve_forever(poll_interval=0.05)
    server.server_close()


if __name__ == "__main__":
    Handler.translations = sys.argv[2]
    serve(socket.socket(fileno=int(sys.argv[1])))
