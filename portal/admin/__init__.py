"""Pages for admins that have not moved to portal/web/admin yet."""

from portal.admin import windows  # noqa: F401 - first: terms and windows import each other
