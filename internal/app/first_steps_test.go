package app

import (
	"strings"
	"testing"
)

// A fresh server shows the way to the first message, and no more of it once an
// event and a rule are there.
func TestFirstSteps(t *testing.T) {
	t.Parallel()
	a := start(t, settings(t))
	_, page := consolePage(t, a, "/", nil)
	for _, want := range []string{`<a href="/notifications/connections">Connect your code-hosting platform`, `<a href="/notifications/rules/new">Add a rule that sends`} {
		if !strings.Contains(page, want) {
			t.Errorf("%q is missing in %s", want, page)
		}
	}
	b := start(t, withChat(t))
	if _, page := consolePage(t, b, "/", nil); !strings.Contains(page, `<li class="done">Connect your`) {
		t.Errorf("a connection is not seen: %s", page)
	}
	url, _, messages := chatRoom(t)
	if _, refusal := saveRule(t, b, url); refusal != "" {
		t.Fatal(refusal)
	}
	opened(t, b, 1)
	<-messages
	if _, page := consolePage(t, b, "/", nil); strings.Contains(page, "Add a rule that sends") {
		t.Errorf("the steps stay: %s", page)
	}
}
