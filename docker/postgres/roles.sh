#!/bin/sh
# Runs once, in a new volume: makes the role that the portal uses. `fairseat prepare` gives it what it may do.
set -eu

psql -v ON_ERROR_STOP=1 -v password="$FAIRSEAT_PASSWORD" -U "$POSTGRES_USER" -d "$POSTGRES_DB" <<SQL
CREATE ROLE fairseat LOGIN PASSWORD :'password';
SQL
