#!/bin/sh
# Runs a command with a PostgreSQL server of its own, which is gone afterwards:
#
#	scripts/postgres.sh go test ./internal/db
#
# The command finds the server in TEST_POSTGRES_URL. Where that is set
# already, that server is used and none is started. With POSTGRES_IN_MEMORY the
# server keeps nothing on a disk, for tests that make and drop many databases.
set -eu

if [ -n "${TEST_POSTGRES_URL:-}" ]; then
	exec "$@"
fi

bin=$(dirname "$(command -v initdb || find /usr/lib/postgresql -name initdb | sort -V | tail -n 1)")
options=
parent=${TMPDIR:-/tmp}
if [ -n "${POSTGRES_IN_MEMORY:-}" ]; then
	# Processes that are killed lose nothing that the kernel has.
	options='-c fsync=off -c max_wal_size=256MB'
	# Room for a hundred databases of 10 MiB, the log and what else is there.
	room=$(df -Pk /dev/shm 2>/dev/null | awk 'NR == 2 { print $4 }')
	[ "${room:-0}" -lt 4000000 ] || parent=/dev/shm
fi
dir=$(mktemp -d -p "$parent")

# PostgreSQL refuses to run as root.
server() {
	if [ "$(id -u)" = 0 ]; then
		runuser -u postgres -- "$@"
	else
		"$@"
	fi
}

stop() {
	server "$bin/pg_ctl" -D "$dir/data" -m immediate -w stop >/dev/null 2>&1 || true
	rm -rf "$dir"
}
trap stop EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

[ "$(id -u)" != 0 ] || chown postgres "$dir"
(cd "$dir" && server "$bin/initdb" -D "$dir/data" -U postgres -A trust -E UTF8 --locale=C >"$dir/initdb.log") || {
	cat "$dir/initdb.log" >&2
	exit 1
}

# A port below the range that the kernel gives to outgoing connections; when
# somebody has it, the server does not start and the next is tried.
for _ in 1 2 3 4 5; do
	port=$((20000 + $(od -An -N2 -tu2 /dev/urandom) % 10000))
	# 300 connections: several packages are tested at once, each with pools of its own.
	if (cd "$dir" && server "$bin/pg_ctl" -D "$dir/data" -l "$dir/data/server.log" -w -o \
		"-p $port -k $dir -c listen_addresses=127.0.0.1 -c max_connections=300 $options" start >/dev/null </dev/null); then
		export TEST_POSTGRES_URL="postgres://postgres@127.0.0.1:$port/postgres?sslmode=disable"
		break
	fi
done
if [ -z "${TEST_POSTGRES_URL:-}" ]; then
	cat "$dir/data/server.log" >&2
	exit 1
fi

"$@"
