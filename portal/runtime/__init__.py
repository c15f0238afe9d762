"""The processes of a portal on one machine: start, supervise, replace and stop them."""
