"""Files of others become what is offered and who is here: read, compared, then all or nothing."""
