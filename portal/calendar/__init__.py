"""When a student is where: the week, days without classes, and the calendar feed."""
