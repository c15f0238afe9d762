"""What every other package builds on; it knows nothing of courses, students or seats."""
