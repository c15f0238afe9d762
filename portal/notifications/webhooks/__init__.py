"""Webhooks: HTTP messages to the university's programs about decisions."""
