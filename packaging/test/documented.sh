#!/bin/sh
# What the documentation tells to do on a machine, in a booted Debian, in the order of a
# reader who installs the package, restores a backup, upgrades and goes back, and then
# installs the program alone: packaging/test/documented.sh DIST, as root.
set -eu
dist=$(realpath "$1")
cd "$(dirname "$0")/../.."
. packaging/test/machine.sh
make_machine
arch=$(go env GOHOSTARCH)
deb=$(ls "$dist"/outrigger_*_"$arch".deb)
program=$(ls "$dist"/outrigger-*-linux-"$arch")
cp "$dist/SHA256SUMS" "$program" "$machine/root/"
documented() { # PAGE…
	go run ./packaging/test/commands debian "$@" | sed "s/_amd64/_$arch/g; s/-amd64/-$arch/g"
}
documented install >"$work/install"
documented backup restarts upgrade >"$work/then"
# The files that they name are those of the release, whatever its version.
cat "$work/install" "$work/then" | grep -o "outrigger_[0-9.]*-1_$arch.deb" | sort -u | while read -r name; do
	version=${name#outrigger_}
	repack "$deb" "${version%%-*}-1" "$machine/root/$name"
done
grep -o "outrigger-v[0-9.]*-linux-$arch" "$work/install" | while read -r name; do cp "$program" "$machine/root/$name"; done
# The configuration and the unit of the program alone are blocks of the page.
block() { # KIND N
	awk -v kind="$1" -v n="$2" '/^```/ { inside = ($0 == "```" kind); if (inside) count++; next } inside && count == n' docs/install.md
}
block yaml 1 >"$machine/root/outrigger.yaml"
block ini 1 >"$machine/root/outrigger.service"
boot

# try runs a command as a reader does, who says yes.
try() {
	echo "\$ $1"
	printf 'y\n' | inside sh -c "$(echo "$1" | sed 's/outrigger restore /outrigger restore --yes /')" || fail "$1"
	case $1 in
	*"systemctl stop"*) ;;
	*"apt install"* | *systemctl*) ready ;;
	esac
}
# try_all tries the commands of a file, each after what its page tells in words.
try_all() {
	while read -r command <&3; do
		case $command in
		"sudo install -m 0600 -o outrigger 2026"*)
			inside sh -c 'cp /var/lib/outrigger/initial-password password && chmod 600 password'
			inside outrigger backup 2026-11-24.db --user admin --password-file password
			;;
		esac
		try "$command"
	done 3<"$1"
}
alone="sudo install -m 0755 outrigger-v"
say "the package"
sed "/^$alone/,\$d" "$work/install" >"$work/first"
try_all "$work/first"
try_all "$work/then"
inside dpkg-query -W outrigger
say "the program alone"
inside sh -c 'apt-get -qq purge outrigger && rm -r /var/lib/outrigger /etc/outrigger && userdel outrigger'
sed -n "/^$alone/,/^outrigger version/p" "$work/install" >"$work/program"
try_all "$work/program"
inside cp outrigger.yaml /etc/outrigger/
inside sh -c 'cp outrigger.service /etc/systemd/system/ && systemctl daemon-reload && systemctl enable --now outrigger'
ready
sed "1,/^outrigger version/d" "$work/install" >"$work/last"
try_all "$work/last"
echo "the documented commands hold"
