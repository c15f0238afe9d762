"""The waiting room: the queue of a selection window, the draw, and access tokens."""
