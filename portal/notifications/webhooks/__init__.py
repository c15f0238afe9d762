"""Webhooks: programs of the university's that are told what has been decided."""
