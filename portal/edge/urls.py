"""Addresses that others name, taken apart."""

from urllib.parse import SplitResult, urlsplit


def parts(address: str | None) -> SplitResult:
    """The parts of an address, all blank where it makes none."""
    try:
        return urlsplit(address or "")
    except ValueError:
        return urlsplit("")
