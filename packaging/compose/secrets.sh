#!/bin/sh
# Makes the passwords and keys of compose.yaml in secrets/, those that are not there
# yet. Containers read them as another user, so that the folder is what protects them.
set -eu
cd "$(dirname "$0")"

mkdir -p -m 0700 secrets
make() { # NAME: its content comes from standard input
	if [ ! -e "secrets/$1" ]; then
		cat >"secrets/$1"
		chmod 0444 "secrets/$1"
	fi
}
openssl rand -hex 24 | make database-password
printf 'postgres://outrigger:%s@database/outrigger?sslmode=disable\n' "$(cat secrets/database-password)" | make database-url
openssl rand -base64 32 | make secret-key
openssl rand -hex 32 | make webhook-secret
echo "The secret of the webhook is in secrets/webhook-secret. Keep secrets/secret-key in another place too."
