"""Pages for admins that have not moved to portal/web/admin yet."""
