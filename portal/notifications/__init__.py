"""What people are told about: on the page at once, in an inbox, and by mail."""
