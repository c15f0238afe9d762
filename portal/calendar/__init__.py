"""Timetables of students, days off, and calendar feeds."""
