"""Applications of students for an exception, and the decisions on them."""
