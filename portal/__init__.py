"""Fairseat, a course registration portal."""
