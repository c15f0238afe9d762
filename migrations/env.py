"""Alembic's door: the database of `DATABASE_URL`, the tables of `portal.models`."""

import os

from alembic import context
from sqlalchemy import create_engine, text

from portal.core.db import with_driver
from portal.models import Base

url = context.config.get_main_option("sqlalchemy.url") or os.environ["DATABASE_URL"]
engine = create_engine(with_driver(url))
with engine.connect() as connection:
    context.configure(connection=connection, target_metadata=Base.metadata, compare_type=True)
    with context.begin_transaction():
        # Nodes that start together migrate one after the other.
        connection.execute(text("SELECT pg_advisory_xact_lock(hashtext('fairseat migrations'))"))
        context.run_migrations()
engine.dispose()
