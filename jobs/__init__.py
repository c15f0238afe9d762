"""What RQ runs: jobs that call into the portal, their workers, and the scheduler."""
