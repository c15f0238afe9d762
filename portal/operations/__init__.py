"""How the portal runs: figures, alarms."""
