#!/bin/sh
# make dist of this commit, twice, from two folders: the digests must be the same.
# KEEP names a folder for the files of the first.
set -eu
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

git clone -q --no-hardlinks . "$work/one"
git clone -q --no-hardlinks "$work/one" "$work/another/deeper"
for folder in "$work/one" "$work/another/deeper"; do
	echo "make dist in $folder" >&2
	make -s -C "$folder" dist VERSION="${VERSION:-}" >/dev/null
done
diff "$work/one/dist/SHA256SUMS" "$work/another/deeper/dist/SHA256SUMS"
cat "$work/one/dist/SHA256SUMS"
if [ -n "${KEEP:-}" ]; then
	cp -R "$work/one/dist/." "$KEEP/"
fi
echo "both are the same"
