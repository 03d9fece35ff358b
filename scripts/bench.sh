#!/bin/sh
# The measurements of the architecture's numbers: matching as a Go benchmark,
# everything else against the ordinary binary.
set -eu
cd "$(dirname "$0")/.."

if [ -z "${1:-}" ]; then
	scripts/install.sh
	exec scripts/postgres.sh "$0" with-postgres
fi

go test -run '^$' -bench Match -benchmem ./internal/notify
go run ./bench
