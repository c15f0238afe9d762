#!/bin/sh
# A server of the ledger. With LEDGER_PRIMARY it follows that one, until the sentinels say otherwise:
# who follows whom is in own.conf, which they rewrite; the rest is as it is here.
set -eu

own=/data/own.conf
if [ ! -e "$own" ]; then
    umask 077
    {
        echo "requirepass $LEDGER_PASSWORD"
        echo "primaryauth $LEDGER_PASSWORD"
        [ -z "${LEDGER_PRIMARY:-}" ] || echo "replicaof $LEDGER_PRIMARY 6379"
    } >"$own.new"
    mv "$own.new" "$own"
fi
exec valkey-server "$own" --dir /data --save "" --appendonly yes --appendfsync always \
    --maxmemory-policy noeviction --hash-max-listpack-entries 64 \
    --repl-diskless-sync-delay 0 --repl-backlog-size 64mb \
    --min-replicas-to-write "${LEDGER_REPLICAS:-0}" --min-replicas-max-lag 5
