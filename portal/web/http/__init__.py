"""Checks and services that every request passes before its view."""
