"""Hubs of a test's own."""

from threading import enumerate as all_threads

from portal.live.hub import Hub
from tests.recorder.processes import wait_for


def end(hub: Hub) -> None:
    """Stop the hub, and wait until its threads have ended: they use the ledger of later tests."""
    hub.stop()
    wait_for(lambda: not [each for each in all_threads() if each.name.startswith("hub-")])
