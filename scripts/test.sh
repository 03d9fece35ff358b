#!/bin/sh
# Everything that is tested, with the output of go test as it is.
#
# First the packages, under the race detector; then cmd/outrigger, acceptance/ and
# bench/, which run the program as it is, and what is measured. Those mostly wait, so
# what only computes runs beside them: lint, and thousands of steps one after the other.
set -eu
cd "$(dirname "$0")/.."

if [ -z "${1:-}" ]; then
	scripts/install.sh
	export POSTGRES_IN_MEMORY=yes
	exec scripts/postgres.sh "$0" with-postgres
fi

TEST_CHROMIUM=$(scripts/chromium.sh)
export TEST_CHROMIUM

# What is compiled is the same in each folder, so that another clone finds it, and
# without cgo, as the program is, so that all but the race detector share it. What only
# debuggers read takes a tenth of compiling.
export GOFLAGS="${GOFLAGS:-} -trimpath -gcflags=all=-dwarf=false" CGO_ENABLED=0

status=0
outside='/(cmd/outrigger|acceptance|bench|internal/archtest|internal/notify/branchmask)(/|$)'
packages=$(go list ./... | grep -Ev "$outside")
# Tests of thousands of steps, which run one after the other.
long='^TestEveryRoute|AtLength$'
# SQLite's own code, translated from C, is left out, with its allocator: with them these
# tests take four times as long. Their caller, the driver, is watched. Properties (of
# pgregory.net/rapid) are tried with fewer and shorter histories: -short; make soak and
# make quick try them at their full length.
# A test binary waits for a tenth of a second as it ends, not for a whole one: nothing of
# a test runs on after it.
# shellcheck disable=SC2086 # one argument for each package
CGO_ENABLED=1 GORACE=atexit_sleep_ms=100 go test -vet=off -race -short -skip "$long" \
	-gcflags='modernc.org/...=-race=false -dwarf=false' -gcflags=modernc.org/sqlite=-dwarf=false -p 4 -timeout 20m $packages || status=1

go build ./...
lint=$(mktemp) steps=$(mktemp)
nice -n 19 scripts/lint.sh >"$lint" 2>&1 &
linted=$!
packages=$(grep -rlE --include='*_test.go' '^func Test(EveryRoute|.*AtLength\()' internal | xargs -n 1 dirname | sort -u | sed 's,^,./,')
# shellcheck disable=SC2086
nice go test -vet=off -run "$long" $packages >"$steps" 2>&1 &
tried=$!
trap 'kill "$linted" "$tried" 2>/dev/null || true; rm -f "$lint" "$steps"' EXIT

packages=$(go list ./... | grep -E "$outside")
# One package at a time. Tests that measure, kill under load or have a disk of
# their own run alone; those that mostly wait (for a browser, a lease, a retry)
# after them, eight at once.
# shellcheck disable=SC2086
go test -vet=off -count 1 -p 1 -parallel 8 -timeout 25m $packages || status=1

wait "$tried" || status=1
wait "$linted" || status=1
cat "$steps" "$lint"
exit $status
