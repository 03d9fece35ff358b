# shellcheck shell=sh
# A booted Debian, for the tests of the packages: `. packaging/test/machine.sh`, then
# make_machine, and boot once the files are in "$machine". What is changed in it is
# thrown away at the end.
#
# MIRROR is where debootstrap takes Debian from (its default otherwise), CACHE where
# the installed system is kept for the next run.
cache=${CACHE:-$PWD/.cache}/debian
work=$(mktemp -d)
machine=$work/root
contents=systemd,systemd-sysv,dbus,ca-certificates,curl,procps,iproute2,sudo,openssl,man-db,rpm

say() { echo "== $*"; }
fail() { echo "FAILED: $*" >&2; exit 1; }
end() {
	[ -z "${leader:-}" ] || kill -RTMIN+3 "$leader" 2>/dev/null || true
	[ -z "${nspawn:-}" ] || wait "$nspawn" || true
	umount "$machine" 2>/dev/null || true
	rm -rf "$work"
}
trap end EXIT

make_machine() {
	if [ "$(cat "$cache/complete" 2>/dev/null)" != "$contents" ]; then
		say "a Debian is made, once"
		rm -rf "$cache"
		mkdir -p "$cache"
		# shellcheck disable=SC2086 # no argument where there is no mirror
		debootstrap --variant=minbase --include="$contents" bookworm "$cache/root" ${MIRROR:-} >"$cache/log" 2>&1
		echo "$contents" >"$cache/complete"
	fi
	mkdir "$machine" "$work/upper" "$work/work"
	mount -t overlay overlay -o "lowerdir=$cache/root,upperdir=$work/upper,workdir=$work/work" "$machine"
	echo "127.0.1.1 $(hostname)" >>"$machine/etc/hosts" # sudo asks for it
	CGO_ENABLED=0 go build -o "$machine/root/load" ./packaging/test/load
}

# repack DEB VERSION FILE makes a deb of another version, with the same files.
repack() {
	(
		unpacked=$(mktemp -d -p "$work") && cd "$unpacked" && ar x "$1"
		mkdir control && tar -xf control.tar.* -C control && sed -i "s/^Version: .*/Version: $2/" control/control
		tar -czf control.tar.gz --owner=0 --group=0 -C control .
		ar rc "$3" debian-binary control.tar.gz data.tar.*
	)
}

boot() {
	say "Debian boots"
	systemd-nspawn -q -b -D "$machine" --register=no --keep-unit --private-network --console=pipe </dev/null >"$work/console" 2>&1 &
	nspawn=$!
	for _ in $(seq 100); do
		leader=$(pgrep -P "$nspawn" -x systemd || true)
		[ -z "$leader" ] || break
		sleep 0.1
	done
	[ -n "$leader" ] || { cat "$work/console"; fail "no system came up"; }
	await "the system does not answer" sh -c 'systemctl is-system-running | grep -qE "running|degraded"'
}

# inside COMMAND… runs a command in the booted system, in root's home.
inside() {
	# shellcheck disable=SC2016 # for the shell inside
	nsenter -t "$leader" -a env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 sh -c 'cd /root && exec "$@"' - "$@"
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

# installed checks the user, the folders and the units of a package that runs.
installed() {
	inside systemctl is-active outrigger.service outrigger-http.socket outrigger-smtp.socket
	inside ps -o user=,rss=,args= -p "$(main)"
	[ "$(inside stat -c %U /proc/"$(main)")" = outrigger ] || fail "it runs as another user"
	[ "$(inside stat -c '%U:%G %a' /var/lib/outrigger /var/lib/outrigger/initial-password /var/lib/outrigger/secret.key /etc/outrigger \
		/etc/outrigger/outrigger.yaml | tr '\n' ' ')" = \
		"outrigger:outrigger 700 outrigger:outrigger 600 outrigger:outrigger 600 root:outrigger 750 root:outrigger 640 " ] || fail "the modes of the files are wrong"
	inside systemd-analyze security outrigger.service | tail -1
	inside sh -c 'cp /var/lib/outrigger/initial-password /root/password'
	inside outrigger healthcheck --ready
}

# configured has the server take what the load sends.
configured() {
	inside sh -c 'cat >>/etc/outrigger/outrigger.yaml' <<-'YAML'
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
}

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

# refuses_a_mistake checks that NEW, a command that upgrades, leaves the running program
# alone where the configuration has a mistake, and says so.
refuses_a_mistake() {
	say "a mistake in the configuration: the program of before goes on"
	before=$(main)
	inside sed -i '1i listne: 127.0.0.1:8090' /etc/outrigger/outrigger.yaml
	inside "$@" 2>&1 | tee "$work/refused"
	grep -q 'NOT restarted' "$work/refused" || fail "it says nothing"
	[ "$(main)" = "$before" ] || fail "it was restarted"
	ready
	inside sed -i 1d /etc/outrigger/outrigger.yaml
}
