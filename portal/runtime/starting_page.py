"""Answer every request with 503 and Retry-After while no web server serves at the address.

A separate program that needs only Python, so that it answers within a tenth of a second:

    python -IS starting_page.py DESCRIPTOR_OF_THE_LISTENING_SOCKET FOLDER_OF_THE_TRANSLATIONS
"""

import asyncio
import gettext
import json
import random
import re
import signal
import socket
import sys
from html import escape

RETRY_SECONDS = 5
HEALTH = {b"/ready", b"/live", b"/health"}
BACKLOG = 4096  # that of listener.py: asyncio would set its own on the shared socket
HEAD_SECONDS = 5.0  # for the head of a request
HEAD_BYTES = 16_384
REST_SECONDS = 2.0  # for the rest that a client sends: unread, it would reset the connection
LANGUAGE = re.compile(rb"^accept-language:[ \t]*([a-z]{2})", re.IGNORECASE | re.MULTILINE)
PAGE = """<!doctype html>
<html lang="{language}">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
{again}<title>{title}</title>
<h1>{title}</h1>
<p>{advice}</p>
"""
# Like the portal's own toast (templates/macros/ui.html), whose scripts handle it.
TOAST = """<div class="toast" data-tone="stop">
<div><p class="toast-title">{title}</p><p>{advice}</p></div>
<button class="toast-close" type="button" data-close-toast aria-label="{dismiss}">&times;</button>
</div>
"""


def answer(head: bytes, translations: str) -> bytes:
    """Return the response to a request with this head: a page, part of a page, or JSON."""
    method, _, rest = head.partition(b" ")
    path = rest.partition(b" ")[0].partition(b"?")[0]
    reads = method in {b"GET", b"HEAD"}
    language, texts = _texts(head, translations)
    words = _words(texts, reads=reads)
    if path in HEALTH:
        headers = {"Content-Type": "application/json"}
        body = json.dumps({"ready": False, "missing": ["the web server, which is starting"]})
    elif path.startswith(b"/api/"):
        headers = {"Content-Type": "application/problem+json"}
        body = json.dumps(_problem(words, path))
    else:
        headers = {"Content-Type": "text/html; charset=utf-8", "Content-Language": language}
        words = {name: escape(text) for name, text in words.items()}
        if re.search(rb"^hx-request:", head, re.IGNORECASE | re.MULTILINE):
            headers |= {"HX-Retarget": "#toasts", "HX-Reswap": "beforeend"}
            body = TOAST.format(**words)
        else:
            body = PAGE.format(**words, language=language, again=_reload() if reads else "")
    return _whole(headers, body.encode(), with_body=method != b"HEAD")


def _words(texts: gettext.NullTranslations, *, reads: bool) -> dict[str, str]:
    _ = texts.gettext
    return {
        "title": _("The portal is starting"),
        "advice": _("Your seats and places are safe. Try again in a few seconds.")
        if reads
        else _("Nothing was changed. Wait a few seconds, then send it again."),
        "dismiss": _("Dismiss"),
    }


def _reload() -> str:
    """Return markup that reloads a page, at a random time to spread the load."""
    return f'<meta http-equiv="refresh" content="{random.randint(8, 24)}">\n'  # noqa: S311


def _problem(words: dict[str, str], path: bytes) -> dict[str, object]:
    """Return the response as problem details (RFC 9457), as the API does."""
    return {
        "type": "about:blank",
        "title": words["title"],
        "status": 503,
        "detail": words["advice"],
        "instance": path.decode("latin-1"),
        "success": False,
        "message": words["advice"],
    }


def _texts(head: bytes, folder: str) -> tuple[str, gettext.NullTranslations]:
    """Return the browser's first language and its texts; English if there are none."""
    header = LANGUAGE.search(head)
    if header:
        language = header[1].decode().lower()
        try:
            return language, gettext.translation("messages", folder, [language])
        except OSError:
            pass
    return "en", gettext.NullTranslations()


def _whole(headers: dict[str, str], body: bytes, *, with_body: bool) -> bytes:
    lines = {
        **headers,
        "Content-Length": str(len(body)),
        "Retry-After": str(RETRY_SECONDS),
        "Cache-Control": "no-store",
        "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
        "X-Content-Type-Options": "nosniff",
        "Connection": "close",
    }
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    return f"HTTP/1.1 503 Service Unavailable\r\n{head}\r\n".encode() + body * with_body


async def _meet(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, translations: str
) -> None:
    """Answer one connection."""
    try:
        head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), HEAD_SECONDS)
        writer.write(answer(head, translations))
        writer.write_eof()
        async with asyncio.timeout(REST_SECONDS):
            while await reader.read(65_536):
                pass
    except (OSError, EOFError, TimeoutError, asyncio.LimitOverrunError):
        pass
    finally:
        writer.close()


async def serve(door: socket.socket, translations: str) -> None:
    """Answer all connections until a signal, then those accepted by then."""
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for each in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(each, ended.set)
    meetings: set[asyncio.Task[None]] = set()

    def meet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        meeting = asyncio.ensure_future(_meet(reader, writer, translations))
        meetings.add(meeting)
        meeting.add_done_callback(meetings.discard)

    server = await asyncio.start_server(meet, sock=door, limit=HEAD_BYTES, backlog=BACKLOG)
    await ended.wait()
    server.close()
    if meetings:
        await asyncio.wait(meetings, timeout=HEAD_SECONDS)


if __name__ == "__main__":
    asyncio.run(serve(socket.socket(fileno=int(sys.argv[1])), sys.argv[2]))
