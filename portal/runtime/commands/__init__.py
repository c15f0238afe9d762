"""The commands of `fairseat`, one file each, with a click command named `command`."""
