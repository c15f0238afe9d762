"""A student's plan: its page and panel, adding to it, and submitting it by one press."""
