#!/bin/sh
# Build a stage of the Dockerfile as a release does: package/buildx.sh STAGE OUTPUT
# BUILD_BASE and RUNTIME_BASE name the bases with their digests, REQUIREMENTS the variant.
set -eu
cd "$(dirname "$0")/.."
mkdir -p dist
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
exec docker buildx build --file package/Dockerfile --target "$1" --output "$2" --provenance=false \
    --build-arg BUILD_BASE="$BUILD_BASE" --build-arg RUNTIME_BASE="$RUNTIME_BASE" \
    --build-arg REQUIREMENTS="${REQUIREMENTS:-image.txt}" --build-arg SOURCE_DATE_EPOCH \
    --build-arg REVISION="$(git rev-parse HEAD)" .
