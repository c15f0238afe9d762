"""What a change by an admin means for students, in sentences, before it is made."""
