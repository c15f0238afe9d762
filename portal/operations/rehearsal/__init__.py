"""Rehearsals: made-up students play an opening against the running portal."""
