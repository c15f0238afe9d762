"""Foundations for every other package; knows nothing of courses, students or seats."""
