"""The JSON API under /api/v1: personal access tokens or a session, and problems as errors."""

from flask import Flask

from portal.web.api import (
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

__all__ = [
    "admin_read_models",
    "admin_registrations",
    "admin_rooms",
    "admin_windows",
    "applications",
    "catalog",
    "drops",
    "registration",
    "start",
    "students",
    "token",
    "waiting_room",
]


def start(app: Flask) -> None:
    """Register the API and its document."""
    document.start(app, bp)
