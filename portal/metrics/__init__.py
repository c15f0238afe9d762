"""Metrics for Prometheus: what each process counts, and how the whole portal stands."""
