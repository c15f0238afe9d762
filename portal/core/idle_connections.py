"""Whether a connection that was idle still serves, told without asking its server."""

from select import POLLIN

from gevent.monkey import get_original

_poll = get_original("select", "poll")  # gevent's version would switch to other greenlets


def has_unread_data(file: int) -> bool:
    """Return whether an idle connection was closed, or holds unexpected data."""
    poll = _poll()
    poll.register(file, POLLIN)
    return bool(poll.poll(0))
