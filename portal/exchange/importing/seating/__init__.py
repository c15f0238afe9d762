"""Students' seats in an import: what the ledger would refuse, found in advance, and the deed."""
