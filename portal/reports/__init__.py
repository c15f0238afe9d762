"""What became of a window: as it runs, at its end, and how fair it was."""
