"""The edge: what is settled about a request before any page of the portal sees it."""
