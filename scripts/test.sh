#!/bin/sh
# Everything that is tested, with the output of go test as it is.
#
# The packages run under the race detector (vetted by scripts/lint.sh already), and
# beside them cmd/outrigger, acceptance/ and bench/, which run the program as it is;
# then what the detector would only slow down, and what is measured.
set -eu
cd "$(dirname "$0")/.."

if [ -z "${1:-}" ]; then
	scripts/install.sh
	export POSTGRES_IN_MEMORY=yes
	exec scripts/postgres.sh "$0" with-postgres
fi

TEST_CHROMIUM=$(scripts/chromium.sh)
export TEST_CHROMIUM

# What is compiled is the same in each folder, so that another clone finds it.
GOFLAGS="${GOFLAGS:-} -trimpath"
export GOFLAGS

status=0
scripts/lint.sh || status=1

outside='/(cmd/outrigger|acceptance|bench|internal/archtest)(/|$)'
packages=$(go list ./... | grep -Ev "$outside")
# These need all the processor that they get; acceptance/, which is beside them, mostly
# waits for browsers, leases and retries, and goes first where both want it. SQLite's
# own code, translated from C, is left out: with it these tests take four times as
# long, and its callers, which are ours, are watched.
raced=$(mktemp)
# shellcheck disable=SC2086 # one argument for each package
CGO_ENABLED=1 setsid nice -n 10 go test -vet=off -race -skip '^TestEveryRoute' -gcflags=modernc.org/sqlite/lib=-race=false \
	-gcflags=modernc.org/libc=-race=false -p 4 -timeout 20m $packages >"$raced" 2>&1 &
race=$!
trap 'kill -- "-$race" 2>/dev/null || true; rm -f "$raced"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

packages=$(go list ./... | grep -E "$outside")
# One package at a time, six of its tests at once; those that have a disk of their own
# or count what happens under load run one after the other, before the rest.
# shellcheck disable=SC2086
go test -vet=off -count 1 -p 1 -parallel 6 -timeout 25m $packages || status=1

wait "$race" || status=1
cat "$raced"

# Tests that ask every route thousands of things, one after the other, find no race;
# and what a match costs is measured without the detector, with nothing beside it.
go test -vet=off -run '^TestEveryRoute' ./internal/app || status=1
go test -vet=off -count 1 ./internal/notify/branchmask || status=1

exit $status
