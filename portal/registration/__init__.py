"""Registration: requests, rules, decisions by the ledger, and how refusals are explained."""
