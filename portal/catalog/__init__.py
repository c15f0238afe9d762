"""The catalog: terms, courses, sections, meetings, rules; search."""
