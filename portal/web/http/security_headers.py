"""Security headers: what pages of the portal never do."""

from flask import Flask, Response, current_app, request

from portal.web.http.hosts import ours

# Device features that no page uses, under the names that browsers know.
UNUSED = (
    "accelerometer",
    "autoplay",
    "browsing-topics",
    "camera",
    "display-capture",
    "encrypted-media",
    "fullscreen",
    "geolocation",
    "gyroscope",
    "hid",
    "idle-detection",
    "magnetometer",
    "microphone",
    "midi",
    "payment",
    "picture-in-picture",
    "publickey-credentials-create",
    "publickey-credentials-get",
    "screen-wake-lock",
    "serial",
    "usb",
    "xr-spatial-tracking",
)
FIXED = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": ", ".join(f"{feature}=()" for feature in UNUSED),
    "X-Frame-Options": "DENY",
}


def start(app: Flask) -> None:
    """Add the headers to every response."""
    app.after_request(_add_headers)


def _add_headers(response: Response) -> Response:
    settings = current_app.config["SETTINGS"]
    host = request.host if ours(request.host, settings) else ""
    checkout = settings.stripe.checkout if settings.stripe else ""
    response.headers.extend(_headers(host, request.is_secure, _encrypted(), checkout))
    if request.path.startswith("/api/") and response.is_json:
        response.headers.setdefault("Content-Disposition", 'attachment; filename="api.json"')
    if "Cache-Control" not in response.headers:
        # Pages are personal, and library computers are shared.
        response.headers["Cache-Control"] = "no-store"
        response.vary.update(("Cookie", "HX-Request"))
    return response


def _encrypted() -> bool:
    return request.is_secure and bool(current_app.config["SESSION_COOKIE_SECURE"])


def _headers(
    host: str,
    secure: bool,  # noqa: FBT001
    encrypted: bool,  # noqa: FBT001
    checkout: str,
) -> list[tuple[str, str]]:
    headers = {**FIXED, "Content-Security-Policy": _policy(host, secure, encrypted, checkout)}
    if encrypted:
        headers["Strict-Transport-Security"] = "max-age=31536000; includeSubDomains"
    return list(headers.items())


def _policy(host: str, secure: bool, encrypted: bool, checkout: str) -> str:  # noqa: FBT001
    # Browsers apply `form-action` also to where the answer to a form leads, as to a checkout.
    forms = f"'self' {checkout}".rstrip()
    policy = (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; "
        f"connect-src 'self'{_socket(host, secure)}; manifest-src 'self'; form-action {forms}; "
        "base-uri 'none'; worker-src 'self'; frame-ancestors 'none'; object-src 'none'"
    )
    return f"{policy}; upgrade-insecure-requests" if encrypted else policy


def _socket(host: str, secure: bool) -> str:  # noqa: FBT001
    """Return our websocket's address: some browsers exclude same-origin sockets from 'self'."""
    return f" {'wss' if secure else 'ws'}://{host}" if host else ""
