"""Imports: files are read, staged, compared with the portal, reviewed, and applied."""
