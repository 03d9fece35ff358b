#!/bin/sh
# Installs with apt-get what the tests need and this machine lacks. Does
# nothing, and asks nothing, where everything is there.
set -eu

has() { command -v "$1" >/dev/null 2>&1; }

missing=
need() { missing="$missing $*"; }

has initdb || ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || need postgresql
[ -n "$(scripts/chromium.sh)" ] || need chromium-headless-shell
[ -d /usr/share/fonts/truetype/dejavu ] || need fonts-dejavu-core
[ -x /usr/sbin/smtp-source ] || has smtp-source || need postfix
[ -x /usr/lib/dovecot/submission ] || need dovecot-core dovecot-submissiond
{ has gcc && [ -e /usr/include/stdlib.h ]; } || need gcc libc6-dev
has node || need nodejs
has npm || need npm
has shellcheck || need shellcheck
has dash || need dash
has sqlite3 || need sqlite3
has curl || need curl
has systemd-analyze || need systemd
has unzip || need unzip
has promtool || need prometheus
[ -n "$missing" ] || exit 0

if [ "$(id -u)" != 0 ]; then
	echo "The tests need packages that are not installed; as root: apt-get install$missing" >&2
	exit 1
fi

# Packages that bring a server must not start it: the tests start their own.
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
	trap 'rm -f "$policy"' EXIT
	printf '#!/bin/sh\nexit 101\n' >"$policy"
	chmod +x "$policy"
fi
if has debconf-set-selections; then
	echo 'postfix postfix/main_mailer_type select No configuration' | debconf-set-selections
fi
export DEBIAN_FRONTEND=noninteractive
apt-get -qq update </dev/null
# Ubuntu packages Chromium whole only.
apt-cache show chromium-headless-shell >/dev/null 2>&1 || missing=$(echo "$missing" | sed s/chromium-headless-shell/chromium/)
# shellcheck disable=SC2086 # one argument for each package
apt-get -qq -y --no-install-recommends install $missing </dev/null >&2
