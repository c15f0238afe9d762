"""Live pages: one hub per process between the ledger's news and the sockets."""

from portal.live.views import bp

__all__ = ["bp"]
