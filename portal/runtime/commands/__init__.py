"""The commands of `fairseat`, a file each; each gives a click command named `command`."""
