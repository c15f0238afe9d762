"""Live pages: one hub per process between the ledger's events and the sockets."""
