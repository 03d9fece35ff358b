package playground

import (
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"
)

func drawn(t *testing.T, file string) (Card, string) {
	t.Helper()
	body, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	c := readCard(body)
	page := httptest.NewRecorder()
	render(page, "cards", view{Channels: []channelView{{Name: "x", Messages: []Message{{Number: 1, At: time.Now(), Card: c}}}}})
	return c, page.Body.String()
}

// A card of either format is drawn in its colour, its parts in their order and its
// links as links, with the classes of the console's preview.
func TestCardIsDrawnAsInThePreview(t *testing.T) {
	for _, format := range []string{"teams", "slack"} {
		c, page := drawn(t, "../notify/"+format+"/testdata/BRANCH_UPDATED.json")
		at := -1
		for _, want := range []string{
			`class="chat-card ` + format + ` info"`, `<h3 class="card-title">Ada Lovelace pushed to feature/carry_all_wheels in ATL/engine</h3>`,
			`<div><dt>Branch</dt><dd>feature/carry_all_wheels</dd></div>`, "0f1d2e3c4b", "and 12 more", `<p class="card-links"><a href="https://git.example.com/`, "Open branch",
		} {
			i := strings.Index(page, want)
			if i <= at {
				t.Errorf("%s: %q is at %d, after %d, in\n%s", format, want, i, at, page)
			}
			at = i
		}
		if len(c.Links) != 2 {
			t.Errorf("%s: the links are %v", format, c.Links)
		}
	}
}

func TestCardsThatAreNone(t *testing.T) {
	for body, want := range map[string]string{
		`[]`: "not of a form", `{}`: "attachments is of type 'Null'", `{"attachments":[{"content":{"type":"x"}}]}`: "must be 'AdaptiveCard'",
	} {
		if c := readCard([]byte(body)); !strings.Contains(c.Error, want) {
			t.Errorf("%s: %q", body, c.Error)
		}
	}
}
