#!/bin/sh
# Properties (of pgregory.net/rapid) as often as they should be tried, where make test
# tries fewer and shorter histories. Needs what scripts/postgres.sh starts.
set -eu
cd "$(dirname "$0")/.."

files=$(grep -rlE --include='*_test.go' 'rapid\.Check' internal)
# shellcheck disable=SC2086
tests=$(sed -nE 's/^func (Test[A-Za-z0-9]+)\(.*/\1/p' $files | sort -u | paste -s -d '|' -)
# shellcheck disable=SC2046,SC2086
exec go test -vet=off -run "^($tests)\$" $(dirname $files | sort -u | sed 's,^,./,')
