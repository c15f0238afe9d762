"""What a request says about its client, its origin and its purpose."""

from functools import lru_cache
from ipaddress import IPv6Address, ip_address, ip_network
from urllib.parse import SplitResult, urlsplit

from flask import current_app, request

PREFETCH = ("prefetch", "prerender", "preview")
SUBSCRIBER = 64  # bits of an IPv6 address that one subscriber shares


def client_address() -> str:
    """Return the key of limits for this request: its IPv4 address or its IPv6 network."""
    return subscriber_network(request.remote_addr or "")


@lru_cache(maxsize=10_000)
def subscriber_network(address: str) -> str:
    """Return an IPv4 address as it is, and for an IPv6 address its /64 network.

    Every IPv6 subscriber has a /64 at least, so a limit per address would limit nobody.
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
    """Return whether a page of ours sent this request, by its Origin header: scheme, host and port.

    Behind a proxy that speaks https the scheme is known by FAIRSEAT_PROXIES or FAIRSEAT_HTTPS.
    """
    secure = request.is_secure or bool(current_app.config["SESSION_COOKIE_SECURE"])
    expected = f"{'https' if secure else 'http'}://{request.host}"
    return request.headers.get("Origin", "").lower() == expected.lower()


def is_prefetch() -> bool:
    """Return whether a browser or a program asks before anyone has opened the page."""
    purpose = request.headers.get("Sec-Purpose") or request.headers.get("Purpose", "")
    return request.method == "HEAD" or purpose.lower().startswith(PREFETCH)
