"""Alembic's door: the database of `DATABASE_URL`, the tables of `portal.models`."""

import os

from alembic import context
from sqlalchemy import create_engine

from portal.db import with_driver
from portal.models import Base

url = context.config.get_main_option("sqlalchemy.url") or os.environ["DATABASE_URL"]
with create_engine(with_driver(url)).connect() as connection:
    context.configure(connection=connection, target_metadata=Base.metadata, compare_type=True)
    with context.begin_transaction():
        context.run_migrations()
