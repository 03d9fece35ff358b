package pages

import (
	"bytes"
	"encoding/json"
	"strings"
)

// curlOf is a shell command that posts a message as it was posted. Where to is in
// $WEBHOOK_URL: a command is passed on, and the URL is a secret.
func curlOf(message string) string {
	return "curl -sS -i -H 'Content-Type: application/json; charset=utf-8' \\\n  --data-raw " + quoted(message) + " \\\n  \"$WEBHOOK_URL\""
}

// quoted is a text as one word of a POSIX shell: within single quotes nothing has a
// meaning but the next one.
func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// indented is JSON with a line for each value; any other text, and JSON that was cut
// off, stays as it is.
func indented(text string) string {
	var lines bytes.Buffer
	if json.Indent(&lines, []byte(text), "", "  ") != nil {
		return text
	}
	return lines.String()
}
