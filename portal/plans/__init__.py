"""What students plan before a window opens, to be submitted by one press."""
