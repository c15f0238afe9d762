"""Operations: figures, alarms and health checks of the running portal."""
