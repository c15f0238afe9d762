"""Reports on a window: its progress, its result, and how fair it was."""
