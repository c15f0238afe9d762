"""Making and changing sections: what may be set, how it is written, and how it is stored."""
