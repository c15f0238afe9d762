"""Headers that tell browsers what pages of the portal never do."""

from flask import Flask, Response, current_app, request

STEADY = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "X-Frame-Options": "DENY",
}


def start(app: Flask) -> None:
    """Put the headers on every answer."""
    app.after_request(_seal)


def _seal(response: Response) -> Response:
    response.headers.update(STEADY)
    response.headers["Content-Security-Policy"] = _policy()
    if request.is_secure and current_app.config["SESSION_COOKIE_SECURE"]:
        response.headers["Strict-Transport-Security"] = "max-age=31536000; includeSubDomains"
    if "Cache-Control" not in response.headers:
        # One address may answer with a page or with a part of it, and both are someone's own.
        response.headers["Cache-Control"] = "no-store" if _is_part() else "private, no-cache"
        response.vary.update(("Cookie", "HX-Request"))
    return response


def _is_part() -> bool:
    return "HX-Request" in request.headers


def _policy() -> str:
    # Not every browser takes a socket of the same origin for 'self'.
    socket = f"{'wss' if request.is_secure else 'ws'}://{request.host}" if request.host else ""
    return (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; "
        f"connect-src 'self' {socket}; manifest-src 'self'; form-action 'self'; base-uri 'none'; "
        "frame-ancestors 'none'; object-src 'none'"
    )
