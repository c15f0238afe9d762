"""The addresses that a receiver may have: none that reaches our own network."""

import ipaddress
import socket
from collections.abc import Iterator, Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from time import monotonic
from urllib.parse import SplitResult, urlsplit

from portal.core.i18n import _k

Address = IPv4Address | IPv6Address
Networks = Sequence[IPv4Network | IPv6Network]

LONGEST = 2000  # characters of an address
# all allocated IPv6 addresses; ipaddress calls more of them global
PUBLIC = IPv6Network("2000::/3")
TRANSLATED = IPv6Network("64:ff9b::/96")  # each stands for the IPv4 address in its last bits


class Forbidden(OSError):
    """Requests to this address are forbidden."""


def parts(url: str, within: Networks) -> SplitResult:
    """Return the parts of a receiver's address; raise ValueError if it is invalid.

    It must be https, except within our own networks if the settings name any.
    """
    found = urlsplit(url)
    fits = url.isascii() and url.isprintable() and " " not in url and len(url) <= LONGEST
    secure = found.scheme == "https" or (found.scheme == "http" and within)
    if not (fits and secure and found.hostname and found.port != 0):
        raise ValueError(url)
    if found.username is not None or found.fragment:
        raise ValueError(url)
    found.hostname.encode("idna")  # as getaddrinfo does: raises UnicodeError, which is a ValueError
    return found


def port(url: SplitResult) -> int:
    """Return the named port, or the scheme's."""
    return url.port or (443 if url.scheme == "https" else 80)


def connect(url: SplitResult, seconds: float, within: Networks) -> socket.socket:
    """Return a connection to the receiver, at a checked address; raise OSError."""
    until = monotonic() + seconds
    error: OSError = Forbidden(_k("Its address is not on the public internet."))
    hosts = list(_addresses(url, within))
    while hosts:
        share = (until - monotonic()) / len(hosts)  # a silent host leaves time for the others
        if share <= 0:
            raise TimeoutError("timed out")
        try:
            return socket.create_connection((hosts.pop(0), port(url)), share)
        except OSError as failed:
            error = failed
    raise error


def _addresses(url: SplitResult, within: Networks) -> Iterator[str]:
    for *_, found in socket.getaddrinfo(url.hostname, port(url), type=socket.SOCK_STREAM):
        address = _unmapped(ipaddress.ip_address(str(found[0]).partition("%")[0]))
        inside = any(address in network for network in within)
        if inside or (url.scheme == "https" and _is_public(address)):
            yield str(found[0])


def _is_public(address: Address) -> bool:
    given_out = isinstance(address, IPv4Address) or address in PUBLIC
    return given_out and address.is_global and not address.is_multicast


def _unmapped(address: Address) -> Address:
    """Return the IPv4 address that an IPv6 address stands for, if it does."""
    if isinstance(address, IPv6Address):
        if address in TRANSLATED:
            return IPv4Address(int(address) & 0xFFFFFFFF)
        return address.ipv4_mapped or address.sixtofour or address
    return address
