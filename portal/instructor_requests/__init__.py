"""What instructors ask of the registrar: more seats, or an override for one student."""
