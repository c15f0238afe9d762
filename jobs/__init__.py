"""What RQ runs: jobs that call into the portal, the workers that do them, and the clock."""
