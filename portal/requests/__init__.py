"""What those who teach ask of the registrar: more seats, or a way past a rule for one student."""
