"""Accounts, roles, login, and the academic record."""
