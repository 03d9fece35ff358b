#!/bin/sh
# The commands of the documentation about the container image and the compose file, with
# podman in place of docker and a storage of its own: packaging/test/docker.sh DIST, as
# root. It takes port 8447 of this machine.
set -eu
dist=$(realpath "$1")
cd "$(dirname "$0")/../.."
work=$(mktemp -d)

say() { echo "== $*"; }
fail() { echo "FAILED: $*" >&2; docker logs outrigger >&2 || true; exit 1; }
end() {
	docker rm -f outrigger >/dev/null 2>&1 || true
	docker system reset -f >/dev/null 2>&1 || true
	rm -rf "$work"
}
trap end EXIT
# Where nested containers may not raise limits, podman must not try.
printf '[containers]\ndefault_ulimits = ["nofile=1024:1024", "nproc=1000:1000"]\n' >"$work/containers.conf"
cat >"$work/docker" <<-SH
	#!/bin/sh
	export CONTAINERS_CONF=$work/containers.conf
	exec podman --root $work/storage --runroot $work/run "\$@"
SH
chmod +x "$work/docker"
export PATH="$work:$PATH"
mkdir "$work/files" "$work/etc"
documented() { go run ./packaging/test/commands "$@"; }

# The files that they name are those of the release, whatever its version.
documented docker install upgrade >"$work/docker-commands"
documented compose install >"$work/compose-commands"
cat "$work/docker-commands" "$work/compose-commands" | grep -o 'outrigger-v[0-9.]*-[a-z]*\.tar[.gz]*' | sort -u | while read -r name; do
	cp "$dist"/outrigger-*"-${name##*-}" "$work/files/$name"
done
tag=$(tar -xO -f "$(ls "$dist"/*-image.tar)" index.json | sed 's/.*"org.opencontainers.image.ref.name":"\([^"]*\)".*/\1/')

say "the container"
awk '/^```/ { inside = ($0 == "```yaml"); if (inside) count++; next } inside && count == 1' docs/install.md >"$work/etc/outrigger.yaml"
echo 0123456789abcdef0123456789abcdef >"$work/etc/webhook-secret"
chown -R 65532 "$work/etc"
while read -r command <&3; do
	echo "\$ $command"
	(cd "$work/files" && sh -c "$(echo "$command" | sed "s#/etc/outrigger:#$work/etc:#; s#127.0.0.1:8090:#127.0.0.1:8447:#")") || fail "$command"
	case $command in
	"docker load"*) docker tag "outrigger:$tag" "outrigger:$(echo "$command" | sed 's/.*outrigger-\(v[0-9.]*\)-image.*/\1/')" ;;
	"docker run"*)
		for _ in $(seq 100); do
			! docker exec outrigger outrigger healthcheck --ready >/dev/null 2>&1 || break
			sleep 0.2
		done
		;;
	esac
done 3<"$work/docker-commands"
curl -fsS http://127.0.0.1:8447/readyz || fail "it does not answer outside"
[ "$(wc -c <"$work/files/initial-password")" -gt 20 ] || fail "there is no password"

say "the compose file"
cat "$work/compose-commands"
{ echo "set -e"; cat "$work/compose-commands"; echo "ls secrets"; } >"$work/script"
secrets=$(cd "$work/files" && sh "$work/script" | tail -6 | tr '\n' ' ')
[ "$secrets" = "database-password database-url secret-key tls-certificate tls-key webhook-secret " ] || fail "the secrets are $secrets"
echo "the commands of docker hold"
