"""The recorder: from the ledger's journal to the event log and read models in PostgreSQL."""
