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
if [ ! -e secrets/tls-key ]; then
	openssl req -x509 -newkey rsa:2048 -nodes -days 365 -subj "/CN=${SITE:-localhost}" -keyout secrets/tls-key -out secrets/tls-certificate 2>/dev/null
	chmod 0444 secrets/tls-key secrets/tls-certificate
	echo "secrets/tls-certificate is signed by itself, to try it out. Put your own in its place, with its chain, and its key into secrets/tls-key."
fi
echo "The secret of the webhook is in secrets/webhook-secret. Keep secrets/secret-key in another place too."
