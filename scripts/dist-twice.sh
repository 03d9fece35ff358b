#!/bin/sh
# make dist of this commit, twice, from two folders: the digests must be the same, and
# so must their signatures, which are checked as SECURITY.md says.
# KEEP names a folder for the files of the first.
set -eu
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

git clone -q --no-hardlinks . "$work/one"
git clone -q --no-hardlinks "$work/one" "$work/another/deeper"
ssh-keygen -q -t ed25519 -N "" -C maintainers -f "$work/key"
echo "maintainers $(cat "$work/key.pub")" >"$work/allowed_signers"
for folder in "$work/one" "$work/another/deeper"; do
	echo "make dist in $folder" >&2
	make -s -C "$folder" dist VERSION="${VERSION:-}" SIGNING_KEY="$work/key" >/dev/null
	ssh-keygen -Y verify -f "$work/allowed_signers" -I maintainers -n file -s "$folder/dist/SHA256SUMS.sig" <"$folder/dist/SHA256SUMS" >&2
	(cd "$folder/dist" && sha256sum --quiet --check --ignore-missing SHA256SUMS)
done
for file in SHA256SUMS SHA256SUMS.sig; do diff "$work/one/dist/$file" "$work/another/deeper/dist/$file"; done
cat "$work/one/dist/SHA256SUMS"
if [ -n "${KEEP:-}" ]; then
	cp -R "$work/one/dist/." "$KEEP/"
fi
echo "both are the same"
