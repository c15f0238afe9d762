"""Pages for those who teach: their sections, rosters and waitlists."""

from portal.instructor.views import bp

__all__ = ["bp"]
