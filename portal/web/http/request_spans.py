"""Spans of requests, imported only where traces are enabled; see portal/core/traces.py."""

from flask import Flask
from opentelemetry.instrumentation.flask import FlaskInstrumentor

# Addresses that contain a secret, and those that only machines request.
UNSEEN = (
    "/calendar/,/recovery/,/sign-up/,/login/oidc,/static/,/metrics,/live$,/ready,/health,/clock"
)


def start(app: Flask) -> None:
    """Make a span for each request, outside all other middleware."""
    FlaskInstrumentor.instrument_app(app, excluded_urls=UNSEEN)  # type: ignore[no-untyped-call]
