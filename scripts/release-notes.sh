#!/bin/sh
# The section of CHANGELOG.md that is about a version; of what is no release, the
# newest section. A tag without a section is a mistake.
set -eu
cd "$(dirname "$0")/.."

section() { # HEADING
	awk -v heading="$1" '/^## / { found = ($2 == heading) } found' CHANGELOG.md
}
notes=$(section "$1")
case $1 in
v[0-9]*-[0-9]*-g* | v*-dirty) ;;
v[0-9]*)
	if [ -z "$notes" ]; then
		echo "CHANGELOG.md has no section $1" >&2
		exit 1
	fi
	;;
esac
if [ -z "$notes" ]; then
	notes=$(section "$(awk '/^## / { heading = $2 } heading && /^- / { print heading; exit }' CHANGELOG.md)")
fi
printf '%s\n' "$notes"
