#!/bin/sh
# Everything that reads the code without running it, as it is compiled with the
# build flags that it is given:
#
#	scripts/lint.sh -race
set -eu
cd "$(dirname "$0")/.."

unformatted=$(git ls-files -co --exclude-standard '*.go' | xargs gofmt -l)
if [ -n "$unformatted" ]; then
	echo "gofmt would change:" "$unformatted" >&2
	exit 1
fi
go vet "$@" ./...
staticcheck=$(go tool -n staticcheck)
GOFLAGS="${GOFLAGS:-} $*" "$staticcheck" ./...
shellcheck -x .ci/run scripts/*.sh packaging/*/*.sh
