#!/bin/sh
# The two nodes and the proxy of the compose file, with its own configuration, on a
# PostgreSQL: each node is replaced under load, as an upgrade does, and no webhook is
# refused. scripts/postgres.sh packaging/test/nodes.sh PROGRAM
set -eu
program=$(realpath "$1")
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
pids=

say() { echo "== $*"; }
fail() {
	echo "FAILED: $*" >&2
	tail -n 15 "$work"/*.log >&2
	exit 1
}
end() {
	for pid in $pids; do kill "$pid" 2>/dev/null || true; done
	for pid in $pids; do wait "$pid" 2>/dev/null || true; done
	rm -rf "$work"
}
trap end EXIT

CGO_ENABLED=0 go build -o "$work/load-program" ./packaging/test/load
key=$(openssl rand -base64 32)
echo "correct horse battery staple" >"$work/password"
node() { # N
	mkdir -p "$work/node_$1"
	cat >"$work/node_$1.yaml" <<-YAML
		listen: 127.0.0.1:1809$1
		base_url: http://127.0.0.1:18098
		trusted_proxies: [127.0.0.1/32]
		data_dir: $work/node_$1
		node_id: node_$1
		database_url: "$TEST_POSTGRES_URL"
		secret_key: "$key"
		admin_password_file: $work/password
		cluster: {enabled: true}
		mail: {listen: off}
		notify:
		  allowed_networks: [127.0.0.0/8]
		  channel_rate: 1000000
		  channel_burst: 1000000
		  digest_above: 0
		  connections:
		    - {name: bench, kind: bitbucket-dc, base_url: "https://code.example.com", webhook_secret: webhook-secret-of-the-load-test}
	YAML
	"$program" serve --config "$work/node_$1.yaml" >>"$work/node_$1.log" 2>&1 &
	started=$!
	pids="$pids $started"
	for _ in $(seq 200); do
		! "$program" healthcheck --ready --config "$work/node_$1.yaml" >/dev/null 2>&1 || return 0
		sleep 0.1
	done
	fail "node $1 is not ready"
}
node 1
first=$started
node 2
second=$started

# Our configuration of nginx, with the nodes where they are, and without TLS.
{
	echo "daemon off; pid $work/nginx.pid; error_log $work/nginx.log; events {}"
	echo "http { access_log off; client_body_temp_path $work/b; proxy_temp_path $work/p; fastcgi_temp_path $work/f; uwsgi_temp_path $work/u; scgi_temp_path $work/s;"
	# shellcheck disable=SC2016 # a variable of nginx
	sed -e 's/node_1:8090/127.0.0.1:18091/; s/node_2:8090/127.0.0.1:18092/; s/listen 443 ssl/listen 127.0.0.1:18098/' \
		-e 's/listen 80/listen 127.0.0.1:18097/; /ssl_cert/d; s/${SITE}/_/' packaging/compose/nginx.conf.template
	echo "}"
} >"$work/nginx.conf"
nginx -c "$work/nginx.conf" 2>>"$work/nginx.log" &
pids="$pids $!"
for _ in $(seq 100); do
	! curl -fs -o /dev/null http://127.0.0.1:18098/readyz || break
	sleep 0.1
done

say "each node replaced, under load"
"$work/load-program" 127.0.0.1:18098 off 127.0.0.1:18099 "$work/password" >"$work/load.log" 2>&1 &
load=$!
sleep 3
kill "$first"
wait "$first" || true
node 1
sleep 2
kill "$second"
wait "$second" || true
node 2
sleep 2
kill "$load"
wait "$load" || fail "under load"
cat "$work/load.log"
echo "the nodes hold"
