"""A request's client, origin and purpose."""

from ipaddress import IPv6Address, ip_address, ip_network
from urllib.parse import SplitResult, urlsplit

from flask import current_app, request

PREFETCH = ("prefetch", "prerender", "preview")
READS = {"GET", "HEAD", "OPTIONS"}
SUBSCRIBER = 64  # bits of an IPv6 address that one subscriber shares


def client_address() -> str:
    """Return the rate limit key of this request: its IPv4 address or its IPv6 network."""
    return subscriber_network(request.remote_addr or "")


def subscriber_network(address: str) -> str:
    """Return an IPv4 address as it is, and the /64 network of an IPv6 address.

    Every IPv6 subscriber has at least a /64, so a limit per address would limit no one.
    """
    try:
        found = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if not isinstance(found, IPv6Address):
        return str(found)
    if found.ipv4_mapped:
        return str(found.ipv4_mapped)
    return str(ip_network((found, SUBSCRIBER), strict=False))


def split_url(address: str | None) -> SplitResult:
    """Return the parts of an address; all are blank if it can't be parsed."""
    try:
        return urlsplit(address or "")
    except ValueError:
        return urlsplit("")


def same_origin() -> bool:
    """Return whether the Origin header names our own scheme, host and port.

    Behind a proxy that speaks https, FAIRSEAT_PROXIES or FAIRSEAT_HTTPS tells the scheme.
    """
    secure = request.is_secure or bool(current_app.config["SESSION_COOKIE_SECURE"])
    expected = f"{'https' if secure else 'http'}://{request.host}"
    return request.headers.get("Origin", "").lower() == expected.lower()


def is_prefetch() -> bool:
    """Return whether a browser or a program loads the page before anyone opens it."""
    purpose = request.headers.get("Sec-Purpose") or request.headers.get("Purpose", "")
    return request.method == "HEAD" or purpose.lower().startswith(PREFETCH)
