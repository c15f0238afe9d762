#!/bin/sh
# The sentinel beside a server; two of the three must agree. It rewrites own.conf with what it has learned.
# It asks for the password of the ledger, and asks the other sentinels with it.
set -eu

own=/data/own.conf
if [ ! -e "$own" ]; then
    umask 077
    cat >"$own.new" <<RULES
requirepass $LEDGER_PASSWORD
sentinel monitor fairseat $LEDGER_PRIMARY 6379 2
sentinel auth-pass fairseat $LEDGER_PASSWORD
sentinel down-after-milliseconds fairseat 3000
sentinel failover-timeout fairseat 4000
sentinel parallel-syncs fairseat 2
RULES
    mv "$own.new" "$own"
fi
exec valkey-server "$own" --sentinel --port 26379 --dir /data
