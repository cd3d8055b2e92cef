#!/bin/sh
# Push and sign what dist/ has for the registry: package/publish.sh PACKAGE TAG. Prints package=DIGEST.
# The images are PACKAGE-runtime and PACKAGE-runtime-otel, the packages PACKAGE and PACKAGE-otel.
set -eu
package=$1
tag=$2
dist=dist/function-script

read_digest() {
    docker buildx imagetools inspect "$1" --format '{{.Manifest.Digest}}'
}

# Crossplane reads signatures as cosign made them before its third version, and no others yet.
sign() {
    cosign sign --yes --new-bundle-format=false --use-signing-config=false --recursive "$1" >&2
}

attest() {
    cosign attest --yes --new-bundle-format=false --use-signing-config=false \
        --type cyclonedx --predicate "$1" "$2" >&2
}

for suffix in "" -otel; do
    for name in "$package-runtime$suffix" "$package$suffix"; do
        # Who has pinned a tag has what it was: a mistake gets a tag of its own.
        if read_digest "$name:$tag" >/dev/null 2>&1; then
            echo "cannot publish $name:$tag: the tag exists, and is never moved" >&2
            exit 1
        fi
    done
done
for suffix in "" -otel; do
    image=$package-runtime$suffix
    set --
    for platform in linux-amd64 linux-arm64; do
        file=$dist-runtime$suffix-$platform
        skopeo copy --quiet "oci-archive:$file.tar" "docker://$image:$tag-$platform"
        attest "$file.cdx.json" "$image@$(read_digest "$image:$tag-$platform")"
        set -- "$@" "$image:$tag-$platform"
    done
    docker buildx imagetools create --tag "$image:$tag" "$@" >&2
    sign "$image@$(read_digest "$image:$tag")"
    .venv/bin/function-script package push --quiet "$package$suffix:$tag" \
        "$dist$suffix-linux-amd64.xpkg" "$dist$suffix-linux-arm64.xpkg" >&2
    digest=$(read_digest "$package$suffix:$tag")
    sign "$package$suffix@$digest"
    # The package has the image's files, and so its bill of materials.
    for platform in linux-amd64 linux-arm64; do
        attest "$dist-runtime$suffix-$platform.cdx.json" "$package$suffix@$digest"
    done
    [ -n "$suffix" ] || echo "package=$digest"
done
