"""The waiting room: the queue of a registration window, the draw, and access tokens."""
