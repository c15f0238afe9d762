"""From the ledger's journal to the event log and its read models in PostgreSQL."""
