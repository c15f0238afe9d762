"""Notifications: on open pages at once, in the inbox, and by mail."""
