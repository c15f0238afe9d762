"""Client addresses as keys of limits."""

from functools import lru_cache
from ipaddress import IPv6Address, ip_address, ip_network

from flask import request

SUBSCRIBER = 64  # bits of an IPv6 address that one subscriber shares


def client() -> str:
    """Return whom to charge for this request: its IPv4 address or its IPv6 network."""
    return subscriber(request.remote_addr or "")


@lru_cache(maxsize=10_000)
def subscriber(address: str) -> str:
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
