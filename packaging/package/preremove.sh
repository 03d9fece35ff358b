#!/bin/sh
# deb: remove, upgrade NEW VERSION; rpm: 0 at the removal, 1 at an upgrade.
set -e

case "$1" in
remove | 0) ;;
*) exit 0 ;;
esac
if [ -d /run/systemd/system ]; then
	# The sockets too: they would start the service again.
	systemctl stop outrigger-http.socket outrigger-smtp.socket outrigger.service
fi
if [ "$1" = 0 ]; then
	systemctl disable outrigger-http.socket outrigger-smtp.socket outrigger.service >/dev/null 2>&1 || true
fi
