"""The ledger: the Redis functions that decide who gets a seat, and their Python client."""
