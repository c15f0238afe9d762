"""Exports: rosters as CSV, and everything as OneRoster files."""
