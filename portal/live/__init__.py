"""Live pages: one hub per process between the ledger's news and the sockets."""
