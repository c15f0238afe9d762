"""Allocation rounds in a term: ballots, freezing, computing, publishing and giving the seats."""
