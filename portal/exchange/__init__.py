"""Files that come in and go out: imports with their previews, and exports."""
