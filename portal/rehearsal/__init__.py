"""Rehearsals: an opening played against the running portal by students who are made up for it."""
