#!/bin/sh
# deb: install [OLD VERSION], upgrade OLD VERSION; rpm: 1 at the first installation, 2 at an upgrade.
set -e

getent group outrigger >/dev/null || groupadd --system outrigger
getent passwd outrigger >/dev/null ||
	useradd --system --gid outrigger --home-dir /var/lib/outrigger --no-create-home \
		--shell /usr/sbin/nologin --comment "Outrigger" outrigger

# An upgrade leaves a service that was stopped as it is.
if [ "$1" = install ]; then
	: >/run/outrigger.install
fi
