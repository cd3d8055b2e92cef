#!/bin/sh
# Print the bases of the image with the digests that their tags have now: build=…, runtime=…, as the Dockerfile names them.
set -eu
cd "$(dirname "$0")"
python=$(sed -n 's/^ARG PYTHON=//p' Dockerfile | head -n 1)
for name in build runtime; do
    argument=$(echo "$name" | tr '[:lower:]' '[:upper:]')_BASE
    base=$(sed -n "s/^ARG $argument=//p" Dockerfile | head -n 1 | sed "s/\${PYTHON}/$python/")
    echo "$name=$base@$(docker buildx imagetools inspect "$base" --format '{{.Manifest.Digest}}')"
done
