#!/bin/sh
# The deb in a booted Debian: installed, run under its unit, upgraded and taken back
# under load, removed, purged. As root: packaging/test/deb.sh FILE.deb
set -eu
deb=$(realpath "$1")
cd "$(dirname "$0")/../.."
. packaging/test/machine.sh
make_machine

say "the deb, and one before it: the same program with an older version in the package"
cp "$deb" "$machine/root/new.deb"
repack "$deb" 0.0.0~before "$machine/root/old.deb"
boot

say "installed"
inside dpkg -i old.deb
ready
installed
inside curl -fsS -u "admin:$(inside cat password)" http://127.0.0.1:8090/metrics | inside grep -q process_start_time_seconds || fail "the sandbox hides the start time"
say "configured"
configured
under_load "restart" inside systemctl restart outrigger
under_load "successor" sh -c 'exec "$@"' - nsenter -t "$leader" -a systemctl kill --kill-whom=main -s USR2 outrigger

refuses_a_mistake dpkg -i new.deb
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
