#!/bin/sh
# Exports the comment hierarchy of a self-hosted instance into the file
# comments_hierarchy_export.json, for the migration to the cloud.
#
# It needs a POSIX shell, curl, awk, sed, tr and mktemp. It asks for everything;
# what it is told as a password goes to curl on its standard input, and is in no
# list of processes. Run it again if it is interrupted: the file is only there
# when it is complete.
set -eu
umask 077

endpoint=/rest/threaded-comments/1.0/migration/export-data
file=comments_hierarchy_export.json
limit=10000  # the most records that the endpoint gives at once
tries=10     # how often a page is asked for before giving up
patience=600 # seconds that one page may take

say() { printf '%s\n' "$*" >&2; }

fail() {
	say "Error: $*"
	exit 1
}

work=$(mktemp -d "${TMPDIR:-/tmp}/threaded-comments.XXXXXX")
part=$file.part.$$
hidden=
leave() {
	[ -z "$hidden" ] || stty echo
	rm -rf "$work" "$part"
}
trap leave EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# ask PROMPT reads a line into $answer.
ask() {
	printf '%s ' "$1" >&2
	IFS= read -r answer || fail "the input has ended."
}

# ask_hidden is ask, and shows nothing of what is typed.
ask_hidden() {
	if [ -t 0 ]; then
		hidden=yes
		stty -echo
	fi
	ask "$1"
	if [ -n "$hidden" ]; then
		stty echo
		hidden=
		say
	fi
}

# quoted TEXT escapes what may stand between quotes in curl's configuration.
quoted() {
	sed 's/[\\"]/\\&/g' <<END
$1
END
}

ask_server() {
	ask "Base URL of the self-hosted instance, such as https://jira.example.com:"
	url=$answer
	while [ "$url" != "${url%/}" ]; do url=${url%/}; done
	case $url in
	http://?* | https://?*) ;;
	*) fail "\"$url\" is no URL; it begins with https:// or http://." ;;
	esac
	ask "User name of an administrator (empty: a personal access token):"
	user=$answer
	if [ -n "$user" ]; then
		ask_hidden "Password:"
		credentials="user = \"$(quoted "$user:$answer")\""
	else
		ask_hidden "Personal access token:"
		credentials="header = \"Authorization: Bearer $(quoted "$answer")\""
	fi
}

# request asks for one page: the body into $work/page, the headers into
# $work/headers, the status into $status; 000 when there is no whole answer.
request() {
	: >"$work/headers"
	: >"$work/page"
	failure=0
	status=$(curl -q --config - <<END
url = "$(quoted "$url$endpoint?offset=$offset&limit=$limit")"
$credentials
header = "Accept: application/json"
output = "$work/page"
dump-header = "$work/headers"
write-out = "%{http_code}"
connect-timeout = 30
max-time = $patience
silent
show-error
END
	) || failure=$?
	case $failure in
	0) ;;
	1 | 3 | 35 | 51 | 53 | 58 | 59 | 60 | 66 | 77 | 80 | 82 | 83 | 90 | 91)
		fail "no connection to $url (curl $failure); its message is above." ;; # the address or a certificate: trying again is no use
	*) status=000 ;;
	esac
}

# header NAME prints a header of the last answer.
header() {
	awk -v name="$1" 'BEGIN { name = tolower(name) ":" }
		tolower(substr($0, 1, length(name))) == name {
			sub(/^[^:]*:[ \t]*/, ""); sub(/[ \t\r]*$/, ""); print; exit
		}' "$work/headers" 2>/dev/null || :
}

# fetch gets one page, and waits where the server asks for it.
fetch() {
	try=1
	while :; do
		request
		case $status in
		200) return ;;
		000 | 408 | 425 | 429 | 500 | 502 | 503 | 504) ;;
		401) fail "the server does not know this user or password (401)." ;;
		403) fail "this user may not export; use an administrator (403)." ;;
		404) fail "there is no export at $url$endpoint (404). Check the URL, and that the plugin is there and recent." ;;
		3??) fail "the server redirects to $(header Location) ($status). Use that address." ;;
		*) fail "the server answered $status: $(head -c 300 "$work/page" 2>/dev/null | tr -d '\000-\037')" ;;
		esac
		[ "$try" -lt "$tries" ] || fail "the server did not answer after $tries tries (last status $status): $(head -c 300 "$work/page" 2>/dev/null | tr -d '\000-\037')"
		wait=$(header Retry-After)
		case $wait in
		'' | *[!0-9]*) wait=$((try * 3)) ;;
		esac
		say "Status $status; trying again in $wait s."
		sleep "$wait"
		try=$((try + 1))
	done
}

# records writes the records of a page to standard output, one a line as the
# endpoint writes them, and "count more total" to $work/meta. Ids stay texts:
# awk's numbers would not hold 64 bits.
records() {
	tr -d ' \t\r\n' <"$work/page" | tr '{' '\n' | tr '}' '\n' | awk -v offset="$offset" -v meta="$work/meta" '
		function id(name,   text) {
			if (!match($0, "\"" name "\":\"?-?[0-9]+")) return ""
			text = substr($0, RSTART, RLENGTH)
			sub(/^[^:]*:"?/, "", text)
			return text
		}
		/"commentId":/ {
			issue = id("issueId"); comment = id("commentId"); parent = id("parentCommentId")
			if (issue == "" || comment == "" || parent == "") { wrong++; next }
			printf "%s{\"issueId\":%s,\"commentId\":%s,\"parentCommentId\":%s}", \
				(offset + n++ > 0 ? ",\n" : ""), issue, comment, parent
		}
		/"hasMore":true/ { more = "yes" }
		/"hasMore":false/ { more = "no" }
		/"totalCount":/ { total = id("totalCount") }
		END { print n + 0, (more == "" ? "none" : more), (total == "" ? 0 : total), wrong + 0 >meta }'
}

export_json() {
	ask_server
	offset=0
	first=
	printf '[' >"$part"
	while :; do
		fetch
		records >"$work/records"
		read -r count more total wrong <"$work/meta"
		[ "$more" != none ] || fail "what the server answered is no export page. Is $url the base URL, and is sign-in with a password allowed?"
		[ "$wrong" = 0 ] || fail "$wrong records of the page at offset $offset could not be read."
		[ "$more" = no ] || [ "$count" -gt 0 ] || fail "the server says that there is more, and gives nothing at offset $offset."
		if [ -z "$first" ]; then
			first=$total
			[ "$count" = 0 ] || printf '\n' >>"$part"
		fi
		cat "$work/records" >>"$part"
		offset=$((offset + count))
		if [ -t 2 ]; then printf '\r%s of %s records' "$offset" "$total" >&2; fi
		[ "$more" = yes ] || break
	done
	if [ -t 2 ]; then say; fi
	[ "$offset" = 0 ] || printf '\n' >>"$part"
	printf ']\n' >>"$part"
	mv -f "$part" "$file"
	say "$offset records are in $file."
	if [ "$first" != "$total" ] || [ "$offset" != "$total" ]; then
		say "Warning: the comments changed meanwhile (first $first, then $total records). Export again while nobody writes."
		exit 2
	fi
}

command -v curl >/dev/null || fail "curl is needed, and is not installed."
say "Threaded comment migration"
say "1) Export JSONs"
say "2) Quit"
ask "Your choice:"
case $answer in
1) export_json ;;
2) ;;
*) fail "there is no choice \"$answer\"." ;;
esac
