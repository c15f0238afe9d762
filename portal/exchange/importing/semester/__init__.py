"""A semester out of CSV files: read, checked row by row, and stored as a whole or not at all."""
