"""What the portal has, for others to read: rosters, and everything as OneRoster files."""
