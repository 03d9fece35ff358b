#!/bin/sh
# What a release has, tried as its users do, as root: about 15 minutes, and 10 more the
# first time, which are for the programs of a cluster. Installs with apt-get what it
# needs. Each part says how long it took.
set -eu
cd "$(dirname "$0")/.."

missing=
for pair in systemd-nspawn:systemd-container debootstrap:debootstrap runc:runc umoci:umoci skopeo:skopeo podman:podman nginx:nginx caddy:caddy \
	apache2:apache2 node:nodejs rpm:rpm ar:binutils mandoc:mandoc curl:curl; do
	command -v "${pair%%:*}" >/dev/null 2>&1 || missing="$missing ${pair##*:}"
done
if [ -n "$missing" ]; then
	export DEBIAN_FRONTEND=noninteractive
	apt-get -qq update </dev/null
	# shellcheck disable=SC2086 # one argument for each package
	apt-get -qq -y --no-install-recommends install $missing </dev/null >&2
fi

part() { # COMMAND…
	began=$(date +%s)
	"$@"
	echo "== took $(($(date +%s) - began)) s: $(basename "$1") $(basename "${2:-}")"
}
dist=$(mktemp -d)
trap 'rm -rf "$dist"' EXIT
KEEP=$dist part scripts/dist-twice.sh
(cd packaging/check && DIST=$dist go test -count 1 ./...)
part packaging/test/parts.sh "$dist"/*.cdx.json
arch=$(go env GOHOSTARCH)
part packaging/test/deb.sh "$dist"/outrigger_*_"$arch".deb
part packaging/test/rpm.sh "$dist"/outrigger-*."$(uname -m)".rpm
part packaging/test/documented.sh "$dist"
part packaging/test/image.sh "$dist"/outrigger-*-image.tar
part packaging/test/docker.sh "$dist"
POSTGRES_IN_MEMORY=yes part scripts/postgres.sh packaging/test/chart.sh "$dist"
POSTGRES_IN_MEMORY=yes part scripts/postgres.sh packaging/test/nodes.sh "$dist"/outrigger-*-linux-"$arch"
part packaging/test/proxies.sh "$dist"/outrigger-*-linux-"$arch"
