#!/bin/sh
# Begins docker/.env: secrets that nobody else knows, and the settings that only you know.
set -eu

file=$(dirname "$0")/.env
if [ -e "$file" ]; then
    echo "$file is there already; nothing was changed." >&2
    exit 1
fi
secret() {
    od -An -N32 -tx1 /dev/urandom | tr -d ' \n'
}
umask 077
cat >"$file" <<ENV
POSTGRES_OWNER_PASSWORD=$(secret)
POSTGRES_PASSWORD=$(secret)
LEDGER_PASSWORD=$(secret)
SECRET_KEY=$(secret)
FAIRSEAT_METRICS_TOKEN=$(secret)
GRAFANA_PASSWORD=$(secret)

# Fill in:
FAIRSEAT_URL=
FAIRSEAT_TLS=
FAIRSEAT_SMTP=
FAIRSEAT_MAIL_FROM=
FAIRSEAT_INSTITUTION=
FAIRSEAT_ZONE=America/New_York
ENV
echo "$file is made. Fill in its last lines."
