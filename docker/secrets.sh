#!/bin/sh
# Begins docker/.env: secrets that no one else knows, and the settings that only you know.
# To one that is there already it adds the secrets that it lacks, and changes nothing else.
set -eu

file=$(dirname "$0")/.env
secret() {
    od -An -N32 -tx1 /dev/urandom | tr -d ' \n'
}
secrets() {
    cat <<ENV
POSTGRES_OWNER_PASSWORD=$(secret)
POSTGRES_PASSWORD=$(secret)
LEDGER_PASSWORD=$(secret)
SECRET_KEY=$(secret)
FAIRSEAT_METRICS_TOKEN=$(secret)
GRAFANA_PASSWORD=$(secret)
ENV
}
umask 077
if [ -e "$file" ]; then
    lacking=$(secrets | while IFS= read -r line; do
        grep -Eq "^ *(export +)?${line%%=*} *=" "$file" || echo "$line"
    done)
    if [ -z "$lacking" ]; then
        echo "$file has every secret; nothing was changed."
        exit
    fi
    [ -z "$(tail -c 1 "$file")" ] || echo >>"$file"
    echo "$lacking" >>"$file"
    echo "Added to $file:" $(echo "$lacking" | cut -d= -f1)
    exit
fi
secrets >"$file"
cat >>"$file" <<ENV

# Fill in:
FAIRSEAT_URL=
FAIRSEAT_TLS=
FAIRSEAT_SMTP=
FAIRSEAT_MAIL_FROM=
FAIRSEAT_INSTITUTION=
FAIRSEAT_ZONE=America/New_York
ENV
echo "$file is made. Fill in its last lines."
