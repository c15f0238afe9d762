"""Addresses that others name, taken apart."""

from urllib.parse import SplitResult, urlsplit

from flask import current_app, request


def parts(address: str | None) -> SplitResult:
    """The parts of an address, all blank where it makes none."""
    try:
        return urlsplit(address or "")
    except ValueError:
        return urlsplit("")


def same_origin() -> bool:
    """Return whether a page of ours sent this request, by its Origin header: scheme, host and port.

    Behind a proxy that speaks https the scheme is known by FAIRSEAT_PROXIES or FAIRSEAT_HTTPS.
    """
    secure = request.is_secure or bool(current_app.config["SESSION_COOKIE_SECURE"])
    expected = f"{'https' if secure else 'http'}://{request.host}"
    return request.headers.get("Origin", "").lower() == expected.lower()
