"""The processes of a portal on one machine: started, kept alive, replaced, stopped."""
