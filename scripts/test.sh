#!/bin/sh
# Everything that is tested, with the output of go test as it is.
#
# First the packages, under the race detector (vetted by scripts/lint.sh already); then
# what it would only slow down; then cmd/outrigger, acceptance/ and bench/, which run
# the program as it is, and what is measured.
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
# without cgo, as the program is, so that all but the race detector share it.
export GOFLAGS="${GOFLAGS:-} -trimpath" CGO_ENABLED=0

status=0
scripts/lint.sh || status=1

outside='/(cmd/outrigger|acceptance|bench|internal/archtest)(/|$)'
packages=$(go list ./... | grep -Ev "$outside")
# SQLite's own code, translated from C, is left out, with its allocator: with them these
# tests take four times as long. Their caller, the driver, is watched.
# shellcheck disable=SC2086 # one argument for each package
CGO_ENABLED=1 go test -vet=off -race -skip '^TestEveryRoute' -gcflags=modernc.org/...=-race=false -gcflags=modernc.org/sqlite= -p 4 -timeout 20m $packages || status=1

# Tests that ask every route thousands of things, one after the other, find no race;
# and what a match costs is measured without the detector.
go test -vet=off -run '^TestEveryRoute' ./internal/app || status=1
go test -vet=off -count 1 ./internal/notify/branchmask || status=1

packages=$(go list ./... | grep -E "$outside")
# One package at a time. Tests that measure, kill under load or have a disk of
# their own run alone; those that mostly wait (for a browser, a lease, a retry)
# after them, six at once.
# shellcheck disable=SC2086
go test -vet=off -count 1 -p 1 -parallel 6 -timeout 25m $packages || status=1

exit $status
