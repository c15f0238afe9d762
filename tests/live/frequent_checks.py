"""The portal that checks the session of each open page every second, for fast tests."""

from portal.live import hub, page

page.CHECK_SECONDS = 1.0
hub.CHECK_SECONDS = 1.0  # type: ignore[attr-defined]

from wsgi import app  # noqa: E402  only now

__all__ = ["app"]
