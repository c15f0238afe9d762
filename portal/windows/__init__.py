"""Selection windows and their four answers."""
