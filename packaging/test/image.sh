#!/bin/sh
# The container image, run by runc from its layout as its user and as another, with a
# read-only root: packaging/test/image.sh FILE-image.tar, as root.
set -eu
tar=$(realpath "$1")
work=$(mktemp -d)
id=outrigger-test-$$

say() { echo "== $*"; }
fail() {
	echo "FAILED: $*" >&2
	cat "$work/log" >&2
	exit 1
}
end() {
	runc delete --force "$id" >/dev/null 2>&1 || true
	rm -rf "$work"
}
trap end EXIT
: >"$work/log"

say "the layout"
mkdir "$work/all"
tar -C "$work/all" -xf "$tar"
version=$(sed 's/.*"org.opencontainers.image.ref.name":"\([^"]*\)".*/\1/' "$work/all/index.json")
for arch in amd64 arm64; do
	skopeo --override-arch $arch inspect "oci:$work/all:$version" | grep -E '"(Architecture|Os)"'
done
case $(uname -m) in x86_64) arch=amd64 ;; *) arch=arm64 ;; esac
skopeo --override-arch $arch copy -q "oci:$work/all:$version" "oci:$work/one:it"
umoci unpack --image "$work/one:it" "$work/bundle" 2>/dev/null
mkdir "$work/data"

# run UID MEMORY DATA ARGUMENTS… writes the bundle's configuration as docker run
# --read-only --user --memory -v would, and starts it. DATA is the folder, or none.
run() {
	uid=$1 memory=$2 data=$3
	shift 3
	node - "$work/bundle/config.json" "$uid" "$memory" "$data" "$@" <<'JS'
const fs = require('fs')
const [file, uid, memory, data, ...args] = process.argv.slice(2)
const c = JSON.parse(fs.readFileSync(file + '.umoci', 'utf8'))
c.process.terminal = false
c.process.args = args
c.process.user = { uid: +uid, gid: +uid === 65532 ? 65532 : 0 }
c.process.noNewPrivileges = true
c.process.capabilities = { bounding: [], effective: [], permitted: [], inheritable: [], ambient: [] }
c.root.readonly = true
c.linux.namespaces = c.linux.namespaces.filter(n => n.type !== 'user')
delete c.linux.uidMappings
delete c.linux.gidMappings
c.linux.resources = { memory: { limit: +memory * 1048576, swap: +memory * 1048576 } }
c.mounts = c.mounts.filter(m => m.destination !== '/var/lib/outrigger')
if (data !== 'none') c.mounts.push({ destination: '/var/lib/outrigger', type: 'bind', source: data, options: ['rbind', 'rw', 'nosuid', 'nodev'] })
fs.writeFileSync(file, JSON.stringify(c))
JS
	runc run --bundle "$work/bundle" "$id" >"$work/log" 2>&1 </dev/null &
	runner=$!
}
stop() {
	runc kill "$id" TERM
	wait "$runner" || fail "it ended with $?"
	runc delete --force "$id" >/dev/null 2>&1 || true
}
await() {
	for _ in $(seq 100); do
		! runc exec "$id" /usr/bin/outrigger healthcheck --ready >/dev/null 2>&1 || return 0
		sleep 0.2
	done
	fail "it is not ready"
}
cp "$work/bundle/config.json" "$work/bundle/config.json.umoci"

say "as its user, with a read-only root and 64 MiB"
chown 65532:65532 "$work/data"
run 65532 64 "$work/data" /usr/bin/outrigger serve
await
runc exec "$id" /usr/bin/outrigger healthcheck
runc exec "$id" /usr/bin/outrigger version
pid=$(runc state "$id" | sed -n 's/.*"pid": \([0-9]*\).*/\1/p')
grep -E '^(Uid|CapEff|NoNewPrivs|VmHWM)' "/proc/$pid/status"
# Sign-ins are what takes most memory at once.
password=$(cat "$work/data/initial-password")
for _ in 1 2 3 4 5 6 7 8; do
	nsenter -t "$pid" -n curl -s -o /dev/null -w '%{http_code} ' -u "admin:$password$_" http://127.0.0.1:8090/rest/outrigger/1.0/users &
done
nsenter -t "$pid" -n curl -fsS -o /dev/null -u "admin:$password" http://127.0.0.1:8090/rest/outrigger/1.0/users || fail "nobody can sign in"
nsenter -t "$pid" -n curl -fsS -o /dev/null http://127.0.0.1:8090/docs/
grep VmHWM "/proc/$pid/status"
stop

say "as another user, in the group root"
chown 1000660000:0 "$work/data"
chown 1000660000:0 "$work/data"/*
run 1000660000 256 "$work/data" /usr/bin/outrigger serve
await
stop

say "without a folder that it can write"
for data in none "$work/locked"; do
	[ "$data" = none ] || install -d -m 0700 "$data"
	run 65532 256 "$data" /usr/bin/outrigger serve
	if wait "$runner"; then fail "it started"; fi
	runc delete --force "$id" >/dev/null 2>&1 || true
	tail -1 "$work/log"
	grep -q '/var/lib/outrigger' "$work/log" || fail "the folder is not named"
done

say "a health check where nothing runs fails"
run 65532 256 "$work/data" /usr/bin/outrigger healthcheck
if wait "$runner"; then fail "it passed"; fi
cat "$work/log"
echo "the image holds"
