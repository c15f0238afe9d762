"""Consistency."""
