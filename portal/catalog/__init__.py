"""What is offered: terms, courses, sections, meetings, rules; search."""
