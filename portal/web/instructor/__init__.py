"""Pages for instructors: their sections, rosters and waitlists, and their requests."""
