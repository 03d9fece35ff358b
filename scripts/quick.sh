#!/bin/sh
# What a change needs before it is committed: lint, then every package without
# the race detector, and neither browser nor kills.
set -eu
cd "$(dirname "$0")/.."

if [ -z "${1:-}" ]; then
	scripts/install.sh
	export POSTGRES_IN_MEMORY=yes
	exec scripts/postgres.sh "$0" with-postgres
fi

status=0
scripts/lint.sh || status=1
packages=$(go list ./... | grep -Ev '/(acceptance|bench)(/|$)')
# shellcheck disable=SC2086 # one argument for each package
go test -timeout 5m $packages || status=1
exit $status
