#!/bin/sh
# The rpm in a booted system: installed, enabled, upgraded and taken back under load,
# erased. As root: packaging/test/rpm.sh FILE.rpm
#
# The system is the Debian of the deb's test, with rpm, without what tells the scripts
# that it is one, and with the presets of Fedora. What the rpm depends on is there, but
# not as rpms.
set -eu
rpm=$(realpath "$1")
cd "$(dirname "$0")/../.."
. packaging/test/machine.sh
make_machine

say "the rpm, and one before it: the same program with an older version in the package"
cp "$rpm" "$machine/root/new.rpm"
mkdir "$work/old"
rpm2archive - <"$rpm" | tar -xz -C "$work/old"
(cd packaging/tools && go build -o "$work/nfpm" github.com/goreleaser/nfpm/v2/cmd/nfpm)
ARCH=$(go env GOHOSTARCH) PACKAGE_VERSION=0.0.0~before STAGE=$work/old "$work/nfpm" package --config packaging/package/nfpm.yaml --packager rpm \
	--target "$machine/root/old.rpm" >/dev/null
for tool in deb-systemd-helper deb-systemd-invoke; do mv "$machine/usr/bin/$tool" "$machine/root/"; done
mkdir -p "$machine/etc/systemd/system-preset"
echo "disable *" >"$machine/etc/systemd/system-preset/99-default-disable.preset"
boot
rpm_() { inside rpm --force-debian --nodeps "$@"; }

say "installed: it waits until it is enabled"
rpm_ -i old.rpm 2>&1 | tee "$work/said"
grep -q 'systemctl enable --now outrigger-http.socket' "$work/said" || fail "it does not say how to start it"
! inside systemctl is-enabled outrigger.service || fail "it is enabled"
! inside systemctl is-active outrigger.service || fail "it runs"
inside getent passwd outrigger
inside systemctl enable --now outrigger-http.socket outrigger-smtp.socket outrigger
ready
installed
# What differs from the package, but for what belongs to the user of the service.
inside rpm --verify --nodeps outrigger || fail "files are not as in the package"
say "configured"
configured

refuses_a_mistake rpm --force-debian --nodeps -U new.rpm
rpm_ -U --oldpackage old.rpm >/dev/null 2>&1
ready
under_load "upgrade" rpm_ -U new.rpm
inside rpm -q outrigger
under_load "back to the version before" rpm_ -U --oldpackage old.rpm
inside grep -q smarthost /etc/outrigger/outrigger.yaml || fail "the settings are gone"

say "a service that was stopped stays so over an upgrade"
inside systemctl stop outrigger-http.socket outrigger-smtp.socket outrigger.service
rpm_ -U new.rpm
! inside systemctl is-active outrigger.service || fail "it was started"
inside systemctl is-enabled outrigger.service || fail "it would not start at the next boot"
inside systemctl start outrigger-http.socket outrigger-smtp.socket outrigger.service
ready

say "erased: data, settings and user stay, and are named; installed again: the data is there"
rpm_ -e outrigger 2>&1 | tee "$work/erased"
grep -q 'kept /var/lib/outrigger /etc/outrigger' "$work/erased" || fail "nothing is said"
! inside curl -s http://127.0.0.1:8090/healthz || fail "something answers"
! inside test -e /usr/lib/systemd/system/outrigger.service || fail "the unit is left"
! inside sh -c 'find /etc/systemd -name "outrigger*" | grep .' || fail "it is still enabled"
inside test -e /var/lib/outrigger/outrigger.db
inside grep -q smarthost /etc/outrigger/outrigger.yaml.rpmsave || fail "the settings are gone"
rpm_ -i new.rpm
inside mv /etc/outrigger/outrigger.yaml.rpmsave /etc/outrigger/outrigger.yaml
inside systemctl enable --now outrigger-http.socket outrigger-smtp.socket outrigger
ready
inside curl -fsS -o /dev/null -u "admin:$(inside cat password)" http://127.0.0.1:8090/rest/outrigger/1.0/users
inside systemctl --failed --no-legend
echo "the rpm holds"
