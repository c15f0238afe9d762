"""The ledger that decides who gets a seat, and the rules that it is told."""
