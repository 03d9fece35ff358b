#!/bin/sh
# The configurations of docs/proxy.md in the real nginx, Caddy and Apache, in front of
# a real server below a sub-path and at a Unix socket: packaging/test/proxies.sh PROGRAM
# It takes the ports 8443 to 8446 of this machine.
set -eu
program=$(realpath "$1")
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
# Debian's proxies run as another user, whom Apache's workers are.
chmod 0755 "$work"
pids=

say() { echo "== $*"; }
fail() {
	echo "FAILED: $*" >&2
	tail -n 20 "$work"/*.log >&2
	exit 1
}
end() {
	for pid in $pids; do kill "$pid" 2>/dev/null || true; done
	for pid in $pids; do wait "$pid" 2>/dev/null || true; done
	rm -rf "$work"
}
trap end EXIT

# block LANGUAGE N is the Nth block of that language in the documentation.
block() {
	awk -v wanted="$1" -v n="$2" '
		/^```/ && inside { inside = 0; next }
		/^```/ { inside = ($0 == "```" wanted); if (inside) count++; next }
		inside && count == n' docs/proxy.md
}
# local N has a configuration use our certificate and port, and the server below.
local_names() { # PORT
	sed -e "s#listen 443 ssl#listen 127.0.0.1:$1 ssl#; s#\*:443#127.0.0.1:$1#; s#^tools.example.com {#https://tools.example.com:$1 {\n    tls $work/tls.crt $work/tls.key#" \
		-e "s#/etc/[a-z0-9]*/tls\.#$work/tls.#; s#/run/outrigger/http.sock#$work/run/http.sock#; s#127.0.0.1:8090#127.0.0.1:$server#"
}

openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=tools.example.com \
	-addext subjectAltName=DNS:tools.example.com -keyout "$work/tls.key" -out "$work/tls.crt" 2>/dev/null
chmod 0644 "$work/tls.key"

server=18090
serve() { # NAME LISTEN TRUSTED
	mkdir -p "$work/$1"
	cat >"$work/$1.yaml" <<-YAML
		listen: $2
		base_url: https://tools.example.com/outrigger
		trusted_proxies: [$3]
		data_dir: $work/$1
		admin_password: correct horse battery staple
		mail: {listen: off}
		notify:
		  connections:
		    - {name: code, kind: bitbucket-dc, base_url: "https://code.example.com", webhook_secret: 0123456789abcdef0123456789abcdef}
	YAML
	"$program" serve --config "$work/$1.yaml" >"$work/$1.log" 2>&1 &
	pids="$pids $!"
	for _ in $(seq 100); do
		! "$program" healthcheck --ready --config "$work/$1.yaml" >/dev/null 2>&1 || return 0
		sleep 0.1
	done
	fail "$1 is not ready"
}
mkdir "$work/run"
serve tcp "127.0.0.1:$server" 127.0.0.1/32
serve socket "unix:$work/run/http.sock" unix

base=https://tools.example.com
ask() { # PORT PATH MORE…
	port=$1 path=$2
	shift 2
	curl -sS --cacert "$work/tls.crt" --connect-to "tools.example.com:443:127.0.0.1:$port" "$@" "$base/outrigger$path"
}
status() { ask "$@" -o "$work/answer" -w '%{http_code}'; }
await() {
	for _ in $(seq 100); do
		[ "$(status "$1" /healthz 2>/dev/null)" != 200 ] || return 0
		sleep 0.1
	done
	fail "nothing answers at port $1"
}
check() { # NAME PORT
	say "$1"
	await "$2"
	code=$(status "$2" /sign-in)
	[ "$code" = 200 ] || fail "$1: the sign-in is $code"
	# As a browser sends the form.
	code=$(status "$2" /sign-in -c "$work/cookies" -H "Origin: $base" -H 'Sec-Fetch-Site: same-origin' -D "$work/headers" \
		--data-urlencode user=admin --data-urlencode "password=correct horse battery staple" --data-urlencode to=)
	[ "$code" = 303 ] || fail "$1: signing in answers $code"
	grep -qi '^location: .*/outrigger' "$work/headers" || fail "$1: it leads elsewhere: $(grep -i '^location' "$work/headers")"
	grep -qi '^set-cookie:.*path=/outrigger.*secure' "$work/headers" || fail "$1: the cookie is not one for https below the path"
	[ "$(status "$2" / -b "$work/cookies")" = 200 ] || fail "$1: the overview"
	! grep -q 'href="/[^o]' "$work/answer" || fail "$1: a link leads out of the sub-path"
	# A large webhook.
	head -c 5000000 /dev/zero | tr '\0' x >"$work/body"
	code=$(status "$2" /hooks/code -X POST -H 'Content-Type: application/json' -H 'X-Hub-Signature: sha256=00' --data-binary "@$work/body")
	[ "$code" = 401 ] || [ "$code" = 403 ] || [ "$code" = 400 ] || fail "$1: a webhook of 5 MB is answered $code"
	# A live page says something at once.
	timeout 3 curl -sN --cacert "$work/tls.crt" --connect-to "tools.example.com:443:127.0.0.1:$2" -b "$work/cookies" \
		-H 'Accept: text/event-stream' "$base/outrigger/mail/live" >"$work/stream" 2>&1 || true
	grep -q '^event:\|^data:' "$work/stream" || fail "$1: the stream is held back: $(head -c 300 "$work/stream")"
}
trusted() { # NAME LOG
	! grep -q 'not in trusted_proxies' "$work/$2.log" || fail "$1: the proxy is not trusted"
}

nginx_at() { # FILE PORT N
	{
		echo "daemon off; pid $work/$1.pid; error_log $work/$1.log; events {}"
		echo "http { access_log off; client_body_temp_path $work/$1.b; proxy_temp_path $work/$1.p; fastcgi_temp_path $work/$1.f; uwsgi_temp_path $work/$1.u; scgi_temp_path $work/$1.s;"
		block nginx "$3" | local_names "$2"
		echo "}"
	} >"$work/$1.conf"
	nginx -c "$work/$1.conf" 2>"$work/$1.log" &
	pids="$pids $!"
}
nginx_at nginx 8443 1
check nginx 8443

block caddy 1 | local_names 8444 >"$work/Caddyfile"
sed -i '1i {\n    admin off\n    auto_https disable_redirects\n    skip_install_trust\n}' "$work/Caddyfile"
XDG_DATA_HOME=$work/caddy XDG_CONFIG_HOME=$work/caddy caddy run --config "$work/Caddyfile" --adapter caddyfile >"$work/caddy.log" 2>&1 &
pids="$pids $!"
check Caddy 8444

{
	modules=/usr/lib/apache2/modules
	for m in mpm_event authz_core ssl socache_shmcb headers proxy proxy_http; do echo "LoadModule ${m}_module $modules/mod_$m.so"; done
	echo "PidFile $work/apache.pid"
	echo "ErrorLog $work/apache.log"
	echo "User www-data"
	echo "Group www-data"
	echo "ServerName tools.example.com"
	echo "Listen 127.0.0.1:8445"
	block apache 1 | local_names 8445
} >"$work/apache.conf"
apache2 -DFOREGROUND -d "$work" -f "$work/apache.conf" 2>"$work/apache.log" &
pids="$pids $!"
check Apache 8445
trusted "the proxies" tcp

nginx_at nginx-socket 8446 2
check "nginx to the Unix socket" 8446
trusted "the socket" socket
echo "the proxies hold"
