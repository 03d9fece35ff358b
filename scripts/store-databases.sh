#!/bin/sh
# Stores a SQLite and a PostgreSQL database that the program of a release made and
# filled, for the test of upgrades:
#
#	scripts/store-databases.sh COMMIT NAME
#
# They go to acceptance/testdata/stored/NAME.
set -eu
cd "$(dirname "$0")/.."

commit=$1
name=$2
if [ -z "${3:-}" ]; then
	exec scripts/postgres.sh "$0" "$commit" "$name" with-postgres
fi

work=$(mktemp -d)
database=stored_$$
trap 'psql -q "$TEST_POSTGRES_URL" -c "DROP DATABASE IF EXISTS $database" >/dev/null 2>&1; rm -rf "$work"' EXIT
mkdir "$work/source"
git archive "$commit" | tar -x -C "$work/source"
(cd "$work/source" && CGO_ENABLED=0 go build -trimpath -o "$work/outrigger" ./cmd/outrigger)

to=acceptance/testdata/stored/$name
go run ./acceptance/stored/make -binary "$work/outrigger" -to "$to/sqlite"
psql -q "$TEST_POSTGRES_URL" -c "CREATE DATABASE $database"
go run ./acceptance/stored/make -binary "$work/outrigger" -to "$to/postgres" \
	-url "$(echo "$TEST_POSTGRES_URL" | sed "s,/[^/?]*?,/$database?,")"
ls -l "$to"/*
