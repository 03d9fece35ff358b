#!/bin/sh
# Everything that reads the code without running it.
set -eu
cd "$(dirname "$0")/.."

unformatted=$(git ls-files -co --exclude-standard '*.go' | xargs gofmt -l)
if [ -n "$unformatted" ]; then
	echo "gofmt would change:" "$unformatted" >&2
	exit 1
fi
go vet ./...
go tool staticcheck ./...
shellcheck -x .ci/run scripts/*.sh packaging/*/*.sh
