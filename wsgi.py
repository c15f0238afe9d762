"""Gunicorn's door."""

from portal.app import create_app

app = create_app()
