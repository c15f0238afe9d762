"""The audit trail as it is read: who did what, when and why. It is written by what is done."""
