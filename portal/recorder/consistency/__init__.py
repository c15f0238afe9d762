"""Consistency of ledger, event log and read models: audit, repair and restore."""
