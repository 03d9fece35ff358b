#!/bin/sh
# The deb in a booted Debian: installed, run under its unit, upgraded and taken back
# under load, removed, purged. As root: packaging/test/deb.sh FILE.deb
#
# MIRROR is where debootstrap takes Debian from (its default otherwise), CACHE where
# the installed system is kept for the next run.
set -eu
deb=$(realpath "$1")
cd "$(dirname "$0")/../.."
cache=${CACHE:-$PWD/.cache}/debian
work=$(mktemp -d)
machine=$work/root

say() { echo "== $*"; }
fail() { echo "FAILED: $*" >&2; exit 1; }
end() {
	[ -z "${leader:-}" ] || kill -RTMIN+3 "$leader" 2>/dev/null || true
	[ -z "${nspawn:-}" ] || wait "$nspawn" || true
	umount "$machine" 2>/dev/null || true
	rm -rf "$work"
}
trap end EXIT

if [ ! -e "$cache/complete" ]; then
	say "a Debian is made, once"
	rm -rf "$cache"
	mkdir -p "$cache"
	# shellcheck disable=SC2086 # no argument where there is no mirror
	debootstrap --variant=minbase --include=systemd,systemd-sysv,dbus,ca-certificates,curl,procps,iproute2 bookworm "$cache/root" ${MIRROR:-} >"$cache/log" 2>&1
	touch "$cache/complete"
fi
mkdir "$machine" "$work/upper" "$work/work"
mount -t overlay overlay -o "lowerdir=$cache/root,upperdir=$work/upper,workdir=$work/work" "$machine"

say "packages and the load"
CGO_ENABLED=0 go build -o "$machine/root/load" ./packaging/test/load
cp "$deb" "$machine/root/new.deb"
# The one before: the same program as 0.0.1, with its own version in the package.
(
	mkdir "$work/old" && cd "$work/old" && ar x "$deb"
	mkdir control && tar -xf control.tar.* -C control && sed -i 's/^Version: .*/Version: 0.0.0~before/' control/control
	tar -czf control.tar.gz --owner=0 --group=0 -C control .
	ar rc "$machine/root/old.deb" debian-binary control.tar.gz data.tar.*
)

say "Debian boots"
systemd-nspawn -q -b -D "$machine" --register=no --keep-unit --private-network --console=pipe </dev/null >"$work/console" 2>&1 &
nspawn=$!
for _ in $(seq 100); do
	leader=$(pgrep -P "$nspawn" -x systemd || true)
	[ -z "$leader" ] || break
	sleep 0.1
done
[ -n "$leader" ] || { cat "$work/console"; fail "no system came up"; }
inside() {
	# shellcheck disable=SC2016 # for the shell inside
	nsenter -t "$leader" -a env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 sh -c 'cd /root && exec "$@"' - "$@"
}
await() { # WHAT COMMAND…
	what=$1
	shift
	for _ in $(seq 300); do
		! inside "$@" >/dev/null 2>&1 || return 0
		sleep 0.2
	done
	inside journalctl --no-pager -u 'outrigger*' | tail -30 >&2
	fail "$what"
}
ready() { await "it is not ready" curl -fsS http://127.0.0.1:8090/readyz; }
main() { inside systemctl show -P MainPID outrigger; }
await "the system does not answer" sh -c 'systemctl is-system-running | grep -qE "running|degraded"'

say "installed"
inside dpkg -i old.deb
ready
inside systemctl is-active outrigger.service outrigger-http.socket outrigger-smtp.socket
inside ps -o user=,rss=,args= -p "$(main)"
[ "$(inside stat -c '%U %a' /proc/"$(main)" | cut -d' ' -f1)" = outrigger ] || fail "it runs as another user"
[ "$(inside stat -c '%U %a' /var/lib/outrigger /var/lib/outrigger/initial-password /var/lib/outrigger/secret.key | tr '\n' ' ')" = \
	"outrigger 700 outrigger 600 outrigger 600 " ] || fail "the modes of the data are wrong"
inside systemd-analyze security outrigger.service | tail -1
inside sh -c 'cp /var/lib/outrigger/initial-password /root/password'
inside outrigger healthcheck --ready
inside curl -fsS -u "admin:$(inside cat password)" http://127.0.0.1:8090/metrics | inside grep -q process_start_time_seconds || fail "the sandbox hides the start time"

say "configured"
inside sh -c 'cat >>/etc/outrigger/outrigger.yaml' <<'YAML'
mail:
  smarthost: 127.0.0.1:2600
  smarthost_tls: none
notify:
  allowed_networks: [127.0.0.0/8]
  channel_rate: 1000000
  channel_burst: 1000000
  digest_above: 0
  connections:
    - {name: bench, kind: bitbucket-dc, base_url: "https://code.example.com", webhook_secret: webhook-secret-of-the-load-test}
YAML
inside runuser -u outrigger -- outrigger config check /etc/outrigger/outrigger.yaml
inside systemctl restart outrigger
ready

# under_load WHAT COMMAND… runs a command while webhooks and mail come in. Mail waits
# until it is through.
under_load() {
	say "$1, under load"
	shift
	before=$(main)
	inside ./load 127.0.0.1:8090 127.0.0.1:2525 127.0.0.1:2600 password >"$work/load" 2>&1 &
	load=$!
	for _ in $(seq 100); do
		! grep -q running "$work/load" || break
		sleep 0.1
	done
	sleep 3
	"$@"
	ready
	sleep 3
	inside pkill -TERM -x load
	wait "$load" || { cat "$work/load"; inside journalctl --no-pager -u outrigger | tail -20; fail "under load"; }
	cat "$work/load"
	[ "$(main)" != "$before" ] || fail "it is the same process"
}
under_load "restart" inside systemctl restart outrigger
under_load "successor" sh -c 'exec "$@"' - nsenter -t "$leader" -a systemctl kill --kill-whom=main -s USR2 outrigger

say "a mistake in the configuration: the program of before goes on"
before=$(main)
inside sed -i '1i listne: 127.0.0.1:8090' /etc/outrigger/outrigger.yaml
inside dpkg -i new.deb 2>&1 | tee "$work/refused"
grep -q 'NOT restarted' "$work/refused" || fail "it says nothing"
[ "$(main)" = "$before" ] || fail "it was restarted"
ready
inside sed -i 1d /etc/outrigger/outrigger.yaml
inside dpkg -i old.deb >/dev/null 2>&1
ready

under_load "upgrade" inside dpkg -i new.deb
under_load "back to the version before" inside dpkg -i old.deb
inside systemctl reload outrigger
ready

say "a service that was stopped stays so over an upgrade"
inside systemctl stop outrigger-http.socket outrigger-smtp.socket outrigger.service
inside dpkg -i new.deb
! inside systemctl is-active outrigger.service || fail "it was started"
inside systemctl start outrigger-http.socket outrigger-smtp.socket outrigger.service
ready

say "removed: the data stays; installed again: it is there"
inside dpkg -r outrigger
! inside curl -s http://127.0.0.1:8090/healthz || fail "something answers"
inside test -e /var/lib/outrigger/outrigger.db
inside dpkg -i new.deb
ready
inside curl -fsS -o /dev/null -u "admin:$(inside cat password)" http://127.0.0.1:8090/rest/outrigger/1.0/users

say "purged: the data stays, and is named"
inside sh -c 'echo secret > /etc/outrigger/webhook-secret'
inside dpkg -P outrigger 2>&1 | tee "$work/purged"
grep -q 'kept /var/lib/outrigger /etc/outrigger' "$work/purged" || fail "nothing is said"
inside test -e /var/lib/outrigger/secret.key
inside test -e /etc/outrigger/webhook-secret
inside rm -r /var/lib/outrigger /etc/outrigger
inside userdel outrigger

say "without data, nothing is left"
inside dpkg -i new.deb
ready
inside systemctl stop outrigger-http.socket outrigger-smtp.socket outrigger.service
inside rm -r /var/lib/outrigger
inside dpkg -P outrigger 2>&1 | tee "$work/purged"
! grep -q kept "$work/purged" || fail "it names what is not there"
! inside getent passwd outrigger || fail "the user is left"
inside systemctl --failed --no-legend
echo "the deb holds"
