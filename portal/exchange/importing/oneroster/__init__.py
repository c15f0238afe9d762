"""People, classes and who is in them as OneRoster 1.1 and 1.2 write them down, in and out."""
