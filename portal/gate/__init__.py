"""The gate: waiting room, passes, captcha and limits, between a student and the ledger."""
