#!/bin/sh
# deb: configure [OLD VERSION]; rpm: 1 at the first installation, 2 at an upgrade.
set -e

config=/etc/outrigger/outrigger.yaml
sockets="outrigger-http.socket outrigger-smtp.socket"

first_start() {
	if command -v deb-systemd-helper >/dev/null; then
		for unit in $sockets outrigger.service; do
			deb-systemd-helper unmask "$unit" >/dev/null || true
			deb-systemd-helper enable "$unit" >/dev/null || true
		done
		[ -d /run/systemd/system ] || return 0
		# shellcheck disable=SC2086 # one argument for each unit
		deb-systemd-invoke start $sockets || echo "outrigger: a port is taken; see systemctl status $sockets" >&2
		deb-systemd-invoke start outrigger.service || echo "outrigger: the service did not start; see journalctl -u outrigger" >&2
		if [ -e /var/lib/outrigger/initial-password ]; then
			echo "outrigger: the first password of admin is in /var/lib/outrigger/initial-password" >&2
		fi
		echo "outrigger: the settings are in $config" >&2
	elif [ -d /run/systemd/system ]; then
		# shellcheck disable=SC2086
		systemctl preset $sockets outrigger.service >/dev/null 2>&1 || true
		echo "outrigger: see $config, then: systemctl enable --now $sockets outrigger" >&2
	fi
}

# Only a configuration that the new program takes stops the old one.
restart() {
	systemctl is-active --quiet outrigger.service || return 0
	if ! runuser -u outrigger -- /usr/bin/outrigger config check "$config" >&2; then
		echo "outrigger: NOT restarted: the program of before goes on. Mend $config, then: systemctl restart outrigger" >&2
		return 0
	fi
	if command -v deb-systemd-invoke >/dev/null; then
		deb-systemd-invoke restart outrigger.service || echo "outrigger: the service did not start; see journalctl -u outrigger" >&2
	else
		systemctl restart outrigger.service || echo "outrigger: the service did not start; see journalctl -u outrigger" >&2
	fi
}

case "$1" in
configure)
	first=
	[ ! -e /run/outrigger.install ] || first=yes
	rm -f /run/outrigger.install
	;;
1) first=yes ;;
[2-9]*) first= ;;
*) exit 0 ;;
esac

if [ -d /run/systemd/system ]; then
	systemctl daemon-reload
fi
if [ -n "$first" ]; then
	first_start
elif [ -d /run/systemd/system ]; then
	restart
fi
