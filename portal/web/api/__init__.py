"""The JSON API under /api/v1: personal access tokens or a session, and problems as errors."""

from flask import Flask

from portal.web.api import (  # noqa: F401  they add their views
    admin_read_models,
    admin_registrations,
    admin_rooms,
    admin_windows,
    applications,
    catalog,
    document,
    drops,
    registration,
    students,
    token,
    waiting_room,
)
from portal.web.api.blueprint import bp


def start(app: Flask) -> None:
    """Register the API and its document."""
    document.start(app, bp)
