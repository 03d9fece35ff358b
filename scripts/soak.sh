#!/bin/sh
# The long forms of the tests: properties at their full length, more kills, power cuts
# and channels, upgrades from the release before, the console in small windows, then
# every fuzz target in turn.
set -eu
cd "$(dirname "$0")/.."

if [ -z "${1:-}" ]; then
	scripts/install.sh
	exec scripts/postgres.sh "$0" with-postgres
fi

scripts/properties.sh
TEST_KILLS=${TEST_KILLS:-200} go test -count 1 -timeout 4h -v -run 'Kill|TestTwoNodes|NodeDies' ./acceptance
TEST_CUTS=${TEST_CUTS:-200} go test -count 1 -timeout 4h -v -run 'PowerCut|FailedSync' ./acceptance
TEST_RESTARTS=${TEST_RESTARTS:-20} go test -count 1 -timeout 1h -v -run RestartRefuses ./acceptance
TEST_CHANNELS=${TEST_CHANNELS:-1000} go test -count 1 -timeout 1h -v -run FailingChannels ./acceptance
TEST_TOKEN_MAILS=${TEST_TOKEN_MAILS:-2000} go test -count 1 -timeout 1h -v -run 'MailBy(Refresh)?Tokens' ./acceptance
TEST_MINUTES=${TEST_MINUTES:-3} go test -count 1 -timeout 1h -v -run MailWithinLimits ./acceptance

# Beside the release before, whose program is built from history; and in a browser
# with little room.
TEST_CHROMIUM=$(scripts/chromium.sh)
export TEST_CHROMIUM
go vet -tags soak ./acceptance
go test -tags soak -count 1 -timeout 2h -v -run Soak ./acceptance

for package in $(go list ./...); do
	for target in $(go test -list '^Fuzz' "$package" | grep '^Fuzz' || true); do
		go test -run '^$' -fuzz "^$target\$" -fuzztime "${TEST_FUZZ:-60s}" "$package"
	done
done
