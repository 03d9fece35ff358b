package app

import (
	"strings"
	"testing"
)

// A fresh server shows the first steps of each service with what to copy, and each no
// more once it is done.
func TestFirstSteps(t *testing.T) {
	t.Parallel()
	a := start(t, settings(t))
	_, page := consolePage(t, a, "/", nil)
	wants(t, "a fresh server", page, `<h2 id="first-steps">First steps</h2>`,
		`<a href="/notifications/new-connection">Connect your code-hosting platform</a>`, `<a href="/notifications/rules/new">Add a rule that sends`,
		"smarthost: smtp.example.com", a.MailAddr(), "outrigger threads export --from", "outrigger threads id-mappings --from")
	b := start(t, withChat(t))
	_, page = consolePage(t, b, "/", nil)
	wants(t, "with a connection", page, "1 of 3 done", "/hooks/")
	if strings.Contains(page, "Connect your code-hosting platform") {
		t.Errorf("a connection is not seen: %s", page)
	}
	url, _, messages := chatRoom(t)
	if _, refusal := saveRule(t, b, url); refusal != "" {
		t.Fatal(refusal)
	}
	opened(t, b, 1)
	<-messages
	if _, page := consolePage(t, b, "/", nil); strings.Contains(page, "Add a rule that sends") || !strings.Contains(page, "outrigger threads export") {
		t.Errorf("the steps stay: %s", page)
	}
}
