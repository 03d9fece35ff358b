#!/bin/sh
# Everything that a release has, in dist/: static binaries, packages, the container
# image, the chart, the compose file, lists of parts, licences, release notes,
# checksums. Of the same commit and Go it is the same, byte for byte.
#
# VERSION names another version than that of the tag, DIST another folder. With
# SIGNING_KEY, the file of an SSH private key, SHA256SUMS is signed.
set -eu
cd "$(dirname "$0")/.."

version=${VERSION:-$(git describe --tags --match 'v[0-9]*' --always --dirty)}
commit=$(git describe --always --abbrev=40 --exclude="*" --dirty)
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
date=$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y-%m-%dT%H:%M:%SZ)
dist=${DIST:-dist}
if [ -n "${SIGNING_KEY:-}" ]; then
	SIGNING_KEY=$(realpath "$SIGNING_KEY")
fi
export SOURCE_DATE_EPOCH
export TZ=UTC LC_ALL=C GOFLAGS=-trimpath CGO_ENABLED=0
umask 022

# A package's version has a digit first and no dash; what is no release is older than all.
case $version in
v[0-9]*) package=$(echo "${version#v}" | sed 's/-rc/~rc/; s/-/+/; s/-/./g') ;;
*) package=0.0.0~git.$(echo "$version" | sed 's/-/./g') ;;
esac

rm -rf "$dist"
mkdir -p "$dist"
dist=$(cd "$dist" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

echo "programs" >&2
for tool in ./image ./sbom github.com/goreleaser/nfpm/v2/cmd/nfpm; do
	(cd packaging/tools && go build -o "$work/tools/" "$tool")
done
program() { # OS ARCH FILE
	GOOS=$1 GOARCH=$2 go build -buildvcs=false \
		-ldflags "-s -w -X main.version=$version -X main.commit=$commit -X main.date=$date" -o "$3" ./cmd/outrigger
}
for arch in amd64 arm64; do
	program linux "$arch" "$dist/outrigger-$version-linux-$arch"
done
# What the program says of itself it says here, where that is another machine's.
host="$dist/outrigger-$version-$(go env GOHOSTOS)-$(go env GOHOSTARCH)"
if [ ! -e "$host" ]; then
	host="$work/outrigger"
	program "$(go env GOHOSTOS)" "$(go env GOHOSTARCH)" "$host"
fi

echo "documents" >&2
"$host" licenses >"$dist/NOTICES.txt"
"$host" licenses --json >"$work/licences.json"
for arch in amd64 arm64; do
	"$work/tools/sbom" "$dist/outrigger-$version-linux-$arch" "$work/licences.json" "$version" >"$dist/outrigger-$version-linux-$arch.cdx.json"
done
scripts/release-notes.sh "$version" >"$dist/RELEASE-NOTES.md"

# stage ARCH lays out what the packages have below /usr.
stage() {
	root="$work/$1"
	doc=$root/usr/share/doc/outrigger
	mkdir -p "$root/usr/bin" "$root/usr/lib/systemd/system" "$root/usr/share/man/man1" "$doc/examples" "$root/usr/share/outrigger" \
		"$root/usr/share/bash-completion/completions" "$root/usr/share/zsh/vendor-completions" "$root/usr/share/fish/vendor_completions.d"
	cp "$dist/outrigger-$version-linux-$1" "$root/usr/bin/outrigger"
	cp packaging/systemd/* "$root/usr/lib/systemd/system/"
	"$host" man | gzip -n9 >"$root/usr/share/man/man1/outrigger.1.gz"
	"$host" completion bash >"$root/usr/share/bash-completion/completions/outrigger"
	"$host" completion zsh >"$root/usr/share/zsh/vendor-completions/_outrigger"
	"$host" completion fish >"$root/usr/share/fish/vendor_completions.d/outrigger.fish"
	gzip -n9 <CHANGELOG.md >"$doc/changelog.gz"
	gzip -n9 <"$dist/NOTICES.txt" >"$doc/NOTICES.txt.gz"
	cp LICENSE "$doc/copyright"
	cp SECURITY.md "$doc/"
	cp "$dist/outrigger-$version-linux-$1.cdx.json" "$root/usr/share/outrigger/sbom.cdx.json"
	cp -R packaging/compose "$doc/examples/"
	# Alert rules and the dashboard.
	if [ -d monitoring ]; then
		mkdir "$root/usr/share/outrigger/monitoring"
		git ls-files monitoring | grep -E '\.(ya?ml|json)$' | grep -v _test | while read -r file; do cp "$file" "$root/usr/share/outrigger/monitoring/"; done
	fi
	find "$root" -type f ! -path '*/bin/*' ! -name '*.sh' -exec chmod 0644 {} +
	find "$root" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
}

echo "packages" >&2
for arch in amd64 arm64; do
	stage "$arch"
	for kind in deb rpm; do
		ARCH=$arch PACKAGE_VERSION=$package STAGE=$work/$arch "$work/tools/nfpm" package --config packaging/package/nfpm.yaml --packager $kind --target "$dist/" >/dev/null
	done
done

echo "image, chart, compose file" >&2
"$work/tools/image" "$dist/outrigger-$version-image.tar" "$version" "$commit" "$dist/NOTICES.txt" \
	"amd64=$dist/outrigger-$version-linux-amd64" "arm64=$dist/outrigger-$version-linux-arm64"

# archive FILE FOLDER packs a folder of $work.
archive() {
	tar --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX -C "$work" -cf - "$2" | gzip -n9 >"$dist/$1"
}
chart=$(echo "${package}" | sed 's/~/-/')
mkdir "$work/chart" "$work/compose"
cp -R packaging/chart "$work/chart/outrigger"
sed -i "s/^version: .*/version: $chart/; s/^appVersion: .*/appVersion: $version/" "$work/chart/outrigger/Chart.yaml"
(cd "$work" && mv chart/outrigger outrigger)
archive "outrigger-chart-$chart.tgz" outrigger
cp packaging/compose/* "$work/compose/"
echo "OUTRIGGER_VERSION=$version" >"$work/compose/.env"
printf '# The host name that users reach.\nSITE=localhost\n' >>"$work/compose/.env"
mv "$work/compose" "$work/outrigger-compose"
archive "outrigger-$version-compose.tar.gz" outrigger-compose

cd "$dist"
sha256sum -- * >"$work/SHA256SUMS"
mv "$work/SHA256SUMS" .
chmod 0644 SHA256SUMS
if [ -n "${SIGNING_KEY:-}" ]; then
	ssh-keygen -q -Y sign -f "$SIGNING_KEY" -n file SHA256SUMS
fi
cat SHA256SUMS
