"""Selection windows: cohorts, scheduling, phases, and making terms ready to open."""
