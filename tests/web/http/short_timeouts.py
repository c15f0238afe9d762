"""The portal with short timeouts, for fast tests."""

from portal.web.http import slow_clients

slow_clients.BODY_SECONDS = 5.0
slow_clients.TAKE_SECONDS = 5.0

from wsgi import app  # noqa: E402  only now

__all__ = ["app"]
