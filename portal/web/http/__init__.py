"""What every request passes through before its view."""
