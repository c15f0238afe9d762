"""Allocation rounds: give out the seats of a round by one computation that anyone can repeat."""
