#!/bin/sh
# deb: remove, purge, upgrade …; rpm: 0 at the removal, 1 at an upgrade.
set -e

units="outrigger-http.socket outrigger-smtp.socket outrigger.service"

# What the package did not bring stays, and is named: messages that wait, the key
# that decrypts them, secrets beside the settings.
say_what_stays() {
	stays=
	for folder in /var/lib/outrigger /etc/outrigger; do
		if [ -n "$(ls -A "$folder" 2>/dev/null)" ]; then
			stays="$stays $folder"
		fi
	done
	if [ -n "$stays" ]; then
		echo "outrigger: kept$stays, with the database, what waits in it, keys and secrets, and the user outrigger. To delete them for good: rm -r$stays; userdel outrigger" >&2
	elif [ "$1" = purge ]; then
		rmdir /var/lib/outrigger /etc/outrigger 2>/dev/null || true
		userdel outrigger 2>/dev/null || true
	fi
}

case "$1" in
remove)
	[ ! -d /run/systemd/system ] || systemctl daemon-reload
	if command -v deb-systemd-helper >/dev/null; then
		for unit in $units; do deb-systemd-helper mask "$unit" >/dev/null || true; done
	fi
	;;
purge)
	if command -v deb-systemd-helper >/dev/null; then
		for unit in $units; do
			deb-systemd-helper purge "$unit" >/dev/null || true
			deb-systemd-helper unmask "$unit" >/dev/null || true
		done
	fi
	say_what_stays purge
	;;
0)
	[ ! -d /run/systemd/system ] || systemctl daemon-reload
	say_what_stays remove
	;;
esac
