"""Accounts and roles, student profiles and records, holds, permissions, API tokens."""
