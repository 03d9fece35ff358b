#!/bin/sh
# Static binaries and their checksums, in dist/.
set -eu
cd "$(dirname "$0")/.."

version=${VERSION:-$(git describe --tags --always --dirty)}
# Go notes the commit by itself, but not in a linked worktree.
commit=$(git describe --always --abbrev=40 --exclude="*" --dirty || true)
rm -rf dist
mkdir dist
for arch in amd64 arm64; do
	CGO_ENABLED=0 GOOS=linux GOARCH=$arch go build -trimpath \
		-ldflags "-s -w -X main.version=$version -X main.commit=$commit" \
		-o "dist/outrigger-$version-linux-$arch" ./cmd/outrigger
done
cd dist
sha256sum outrigger-* | tee SHA256SUMS
